"""The recording in the repository is read as it was."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("tables"))
def test_the_tables_stay_what_they_are(run: str) -> None:
    check(run, "tables")
