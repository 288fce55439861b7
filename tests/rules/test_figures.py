"""Of every built run and every case the rules find what they found."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("findings"))
def test_the_findings_stay_what_they_are(run: str) -> None:
    check(run, "findings")


@pytest.mark.parametrize("run", runs_with("thresholds"))
def test_thresholds_part_the_same_answers(run: str) -> None:
    """At a value of a threshold the answer changes, and the value itself belongs to one side."""
    check(run, "thresholds")
