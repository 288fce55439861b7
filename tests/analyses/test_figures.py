"""Every analysis of every built run and every case gives what it gave."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("analyses"))
def test_the_figures_of_every_analysis_stay_what_they_are(run: str) -> None:
    check(run, "analyses")
