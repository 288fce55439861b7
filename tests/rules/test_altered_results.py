"""What each rule says of its case when a figure of an analysis is unknown, nothing or another."""

from __future__ import annotations

import pytest

from tests.rules.cases import case_modules
from tests.support.altering import altered_results
from tests.support.altering.altered import marked


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_a_case_with_another_figure_is_judged_as_it_was(name: str) -> None:
    kept = altered_results.kept()[name]
    told = altered_results.told(name, {which: list(ways) for which, ways in kept.items()})
    others = {
        (which, way): told[which].get(way)
        for which, ways in kept.items()
        for way, mark in ways.items()
        if way not in told[which] or marked(told[which][way]) != mark
    }
    assert not others, f"{len(others)} are judged otherwise (meant to be? {altered_results.WRITE}):\n{others}"
