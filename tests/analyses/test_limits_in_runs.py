"""Every limit in the code parts the figures of some runs where it did, and on the same side."""

from __future__ import annotations

import json

import pytest

from tests.support.figure_runs import LIMITS
from tests.support.limits import limits, side_of

KEPT: dict[str, dict[str, tuple[float, str]]] = json.loads(LIMITS.read_text())


@pytest.mark.parametrize("key", KEPT)
def test_a_limit_parts_the_same_figures(key: str) -> None:
    for run, (value, side) in KEPT[key].items():
        now = side_of(limits()[key], run.split()[0], value)
        assert now == side, f"{key} at {value:g} in {run}: expected to belong to those {side}, got {now}"
