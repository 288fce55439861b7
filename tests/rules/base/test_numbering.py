"""What a rule says of its case does not depend on how names, threads, functions, lines and values are numbered."""

from __future__ import annotations

import pytest

from gpuprof.rules.registry import rule
from tests.rules.cases import case_modules
from tests.support.altering.altered import answer, case
from tests.support.altering.reordered import renumbered_runs
from tests.support.figure_runs import differences


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_a_case_is_judged_the_same_however_it_is_numbered(name: str) -> None:
    results, judged = case(name), rule(name)
    expected = answer(judged, results)
    for run in renumbered_runs(results, 3):
        assert not list(differences(expected, answer(judged, run)))
