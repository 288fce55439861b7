"""Names whose numbers are needless in the same way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuprof.analyses.memory.alike_names import AlikeNames, with_alike
from gpuprof.analyses.memory.kept_memory import KeptTensors

FIRST = KeptTensors("p", "global", 1, 80, 0, 0, None, None, (), False, True, made=(3,))
ZEROS: dict[str, Any] = {"zeros_bytes": 72, "zeros_share": 0.9, "one_hot": True}
NARROW: dict[str, Any] = {"wide_type": "int64", "wide_bytes": 64, "narrow_type": "uint8", "narrow_bytes": 8}


@pytest.mark.parametrize(("facts", "size", "needless"), [(ZEROS, 80, 72), (NARROW, 64, 56)])
def test_each_has_the_others(facts: dict[str, Any], size: int, needless: int) -> None:
    first, second = replace(FIRST, **facts), replace(FIRST, name="t", made=(4, 5), **facts)
    found = with_alike([first, second])
    assert found[0] == replace(first, alike=AlikeNames(("t",), size, needless, (4, 5)))
    assert found[1].alike == AlikeNames(("p",), size, needless, (3,))


@pytest.mark.parametrize(
    "other",
    [
        {"one_hot": False},
        {"zeros_bytes": 0, **NARROW},
        {"zeros_bytes": 0},
        {"function": "report", "kind": "frame"},
        {"made": ()},
        {"kind": "module"},
    ],
)
def test_what_is_of_another_kind_or_place(other: dict[str, Any]) -> None:
    first = replace(FIRST, **ZEROS)
    kept = [first, replace(first, name="t", **other)]
    assert with_alike(kept) == kept


def test_smaller_types_that_differ() -> None:
    first = replace(FIRST, **NARROW)
    kept = [first, replace(first, name="t", narrow_type="int16")]
    assert with_alike(kept) == kept
    assert with_alike([replace(FIRST), replace(FIRST, name="t")])[0].alike is None
