"""What is said of a search: also of the settings that the cell has no place for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gpuprof.verification.tuning.race import Standing
from gpuprof.verification.tuning.search import Entry, Found, Tried
from gpuprof.verification.tuning.setting import Candidates, Setting
from gpuprof.verification.tuning.tuning import Tuning

TRACK: Any = SimpleNamespace(guard=lambda entry: None, unit_ns={}, plan=SimpleNamespace(steps=None))


def told(*tried: Entry) -> Tuning:
    settings = [
        Setting("threads", "threads", lambda source: f"{source}threads\n"),
        Setting("prefetch", "prefetch", lambda source: None),
        Setting("layout", "layout", lambda source: source),
    ]
    rows = tuple(Tried(entry, Standing(4), "undecided") for entry in tried)
    found = Found(None, None, None, proven=False, turns=4, unchanged_again=Standing(0), tried=rows, interrupted=False)
    return Tuning.of(found, Candidates("x = 1\n", settings), TRACK, seconds=1.0)


def test_settings_without_a_place_are_named() -> None:
    found = told(("threads",))
    assert found.without_place == ("prefetch", "layout")
    assert "not tried, since the cell as it is has no place for them: prefetch, layout" in found.lines()
    assert found.to_dict()["without_place"] == ["prefetch", "layout"]


def test_one_that_was_tried_with_another_is_not_among_them() -> None:
    assert told(("threads",), ("threads", "prefetch")).without_place == ("layout",)
    line = [each for each in told(("threads", "prefetch"), ("threads", "layout")).lines() if "no place" in each]
    assert line == []
