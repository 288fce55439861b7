"""What is needed of each value and operator of the looked-at programs stays what it is."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("demand"))
def test_what_is_needed_stays_what_it_is(run: str) -> None:
    check(run, "demand")
