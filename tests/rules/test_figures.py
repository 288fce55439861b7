"""Of every built run and every case the rules find what they found."""

from __future__ import annotations

import pytest

from tests.support.figure_runs import check, runs_with


@pytest.mark.parametrize("run", runs_with("findings"))
def test_the_findings_stay_what_they_are(run: str) -> None:
    check(run, "findings")
