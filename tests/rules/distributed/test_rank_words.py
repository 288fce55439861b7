"""Where a late rank's own time goes, in words."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.accounts.hot_spot import HotSpot
from gpuprof.rules.distributed.rank_words import _place


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"what": "json.dump", "line": 7, "cell_line": 3}, "`json.dump` in line 3"),
        ({"what": "json.dump", "line": 7}, "`json.dump` in line 7"),
        ({"what": "json.dump"}, "`json.dump`"),
        ({"what": "", "line": 7}, "line 7"),
    ],
)
def test_the_place_of_a_hot_spot(facts: dict[str, Any], words: str) -> None:
    assert _place(HotSpot(ns=1, share=0.5, phase=None, **facts)) == words
