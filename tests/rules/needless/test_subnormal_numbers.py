"""Subnormal numbers that come after the close look: by the variables of the whole cell."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import rule
from tests.analyses.lines.test_subnormal_variables import decayed, simulated


def answer(**changed: Any) -> Finding | Abstention | None:
    return rule("subnormal_numbers").check(Results(simulated(decayed(**changed))))


def test_without_a_look_they_are_found_by_the_variables() -> None:
    found = answer()
    assert isinstance(found, Finding) and found.severity is Severity.MEDIUM
    assert found.title == "Lines that read subnormal numbers take 40 % of the cell"
    assert "60 % of the looks at `trace` in `simulate` found subnormal numbers" in found.explanation
    assert "closer to zero than 1.2e-38. This processor multiplied them 40 times slower" in found.explanation
    assert found.evidence == {"lines_share": 0.4, "looks_share": 0.6, "times_slower": 40}
    assert found.where.lines == (3, 5)
    assert found.diff is not None and "+torch.set_flush_denormal(True)" in found.diff
    assert "Threads of torch that already run keep their setting: restart the kernel" in found.change
    assert found.saving is None


def test_numbers_of_float64_have_another_limit() -> None:
    found = answer(double=True)
    assert isinstance(found, Finding) and "2.2e-308. This" in found.explanation


@pytest.mark.parametrize("changed", [{"times_slower": 1.9}, {"subnormal_share": 0.19}, {"subnormal_looks": 2}])
def test_what_costs_little_is_left(changed: dict[str, float]) -> None:
    # there was no close look either
    assert isinstance(answer(**changed), Abstention)
