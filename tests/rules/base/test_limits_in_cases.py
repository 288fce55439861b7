"""Every limit in the code of rules parts what is said of some cases where it did, and on the same side."""

from __future__ import annotations

import json

import pytest

from tests.support.altering.limits_of_rules import limits_of_rules
from tests.support.figure_runs import LIMITS_OF_RULES
from tests.support.limits import side_of

KEPT: dict[str, dict[str, tuple[float, str]]] = json.loads(LIMITS_OF_RULES.read_text())


@pytest.mark.parametrize("key", KEPT)
def test_a_limit_parts_the_same_answers(key: str) -> None:
    for run, (value, side) in KEPT[key].items():
        now = side_of(limits_of_rules()[key], run.split()[0], value)
        assert now == side, f"{key} at {value:g} in {run}: expected to belong to those {side}, got {now}"
