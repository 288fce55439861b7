"""Every change to the graph of every built run gives what it gave."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("whatif"))
def test_what_changes_would_save_stays_what_it_is(run: str) -> None:
    check(run, "whatif")
