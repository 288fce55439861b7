"""The number of elements that recorded shapes and types stand for."""

from __future__ import annotations

from typing import Any

import msgspec

_MOST = 1 << 62


def elements(dims: msgspec.Raw) -> int:
    """Of all tensors in `Input Dims`, such as `[[1000], [2, 3]]` or `[[[1000]], []]`; -1 where there is none."""
    found = [_product(shape) for shape in _shapes(_decoded(dims))]
    return min(sum(found), _MOST) if found else -1


def first_type(types: msgspec.Raw) -> str | None:
    """The first in `Input type` that is an element type; None where there is none."""
    found = _decoded(types)
    texts = found if isinstance(found, list) else []
    return next((text for text in texts if isinstance(text, str) and text not in ("", "Scalar", "TensorList")), None)


def _decoded(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw) if bytes(raw) else None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _shapes(value: Any) -> list[list[int]]:
    if not isinstance(value, list) or not value:
        return []
    if all(isinstance(size, int) and size >= 0 for size in value):
        return [value]
    return [shape for part in value for shape in _shapes(part)]


def _product(shape: list[int]) -> int:
    whole = 1
    for size in shape:
        whole *= size
    return whole
