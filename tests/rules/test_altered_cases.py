"""What each rule says of its case when a part of the recording is missing, is nothing, or is more."""

from __future__ import annotations

import pytest

from tests.rules.cases import case_modules
from tests.support.altering import altered


@pytest.mark.parametrize("name", sorted(case_modules()))
def test_an_altered_case_is_judged_as_it_was(name: str) -> None:
    expected = altered.kept()[name]
    said = altered.told(name, list(expected))
    others = {way: said.get(way) for way, mark in expected.items() if altered.marked(said.get(way)) != mark}
    assert not others, (
        f"{len(others)} of {len(expected)} are judged otherwise (meant to be? {altered.WRITE}):\n{others}"
    )
