"""Runs of a few events, many of them at the same instant: graphs and changes give what they gave."""

from __future__ import annotations

import pytest

from tests.support.altering import tiny_runs


@pytest.mark.parametrize("number", range(tiny_runs.TINY))
def test_what_becomes_of_a_tiny_run(number: int) -> None:
    expected, told = tiny_runs.kept()[str(number)], tiny_runs.told(number)
    others = {name: (expected.get(name), told.get(name)) for name in {**expected, **told}}
    others = {name: both for name, both in others.items() if both[0] != both[1]}
    assert not others, f"of run {number} (meant to be? {tiny_runs.WRITE}): {others}"
