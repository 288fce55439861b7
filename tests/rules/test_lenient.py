"""Rules whose thresholds let everything through find what they found: in built and mixed runs, and in shaken cases."""

from __future__ import annotations

import pytest

from tests.support.altering import lenient
from tests.support.altering.altered import marked


@pytest.mark.parametrize("run", (*lenient.RUNS, *lenient.CASES))
def test_lenient_rules_find_what_they_found(run: str) -> None:
    expected = lenient.kept(run)
    found = lenient.told(run, map(int, expected)) if run in lenient.CASES else lenient.told(run)
    others = {name: found.get(name) for name in {**expected, **found} if marked(found.get(name)) != expected.get(name)}
    assert not others, f"{', '.join(others)} say something else (meant to be? {lenient.WRITE}):\n{others}"
