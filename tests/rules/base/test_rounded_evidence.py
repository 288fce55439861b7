"""Shares in the evidence have four places behind the point, however crooked a run's figures are."""

from __future__ import annotations

import functools

import pytest

from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.rules.cases import case_modules
from tests.support.altering.altered import altered, case
from tests.support.altering.jittered import jittered
from tests.support.altering.lenient import lenient

SEEDS = range(5)
IMPOSSIBLE = (TypeError, ValueError, AttributeError, IndexError, KeyError, ZeroDivisionError, AssertionError)
"""How a rule may end on a run that was shaken until its parts contradict each other."""
NAMES = sorted(case_modules())


@functools.cache
def shares(name: str) -> list[tuple[str, float]]:
    """Those of the rule's findings in its own case, shaken."""
    found = list[tuple[str, float]]()
    for seed in SEEDS:
        for judged in (rule(name), lenient(rule(name))):
            try:
                said = judged.check(altered(case(name), functools.partial(jittered, seed=seed)))
            except IMPOSSIBLE:
                continue
            evidence = said.evidence if isinstance(said, Finding) else {}
            found += [(key, value) for key, value in evidence.items() if isinstance(value, float) and "share" in key]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_shares_are_rounded(name: str) -> None:
    assert [each for each in shares(name) if each[1] != round(each[1], 4)] == []


def test_many_of_them_would_have_more_places() -> None:
    """Else nothing is rounded here."""
    four = [name for name in NAMES if any(value != round(value, 3) for _, value in shares(name))]
    assert len(four) >= 30
