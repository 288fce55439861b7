"""The attributes of the user's objects, read without running any code of theirs."""

from __future__ import annotations

from typing import Any

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement


def attributes_of(value: Any) -> dict[str, Any] | None:
    """The `__dict__` of an instance of a class written in Python; None for anything else, or a class that answers
    for its attributes itself."""
    kind = type(value)
    reads: Any = kind.__getattribute__
    if not kind.__flags__ & _HEAP_TYPE or reads is not object.__getattribute__:
        return None
    attributes = getattr(value, "__dict__", None)
    return attributes if type(attributes) is dict else None
