"""What may be said of an object without running any code of the user's and without keeping it: its kind and size."""

from __future__ import annotations

import math
import sys
from collections import deque
from itertools import islice
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, NamedTuple

from gpuprof.capture.base.attributes import attributes_of

# by identity: comparing types may ask a metaclass of the user's
_SIZED = frozenset(map(id, (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, deque)))
_ORDERED = frozenset(map(id, (list, tuple, deque)))
_NUMBERS = frozenset(map(id, (int, float, complex, bool, type(None), ModuleType)))
_FUNCTIONS = frozenset(map(id, (FunctionType, BuiltinFunctionType, type)))
_MOST_ATTRIBUTES = 64
_MOST_PARTS = 8
_TABLES = ("DataFrame", "Series")


class OperandFacts(NamedTuple):
    """See model.operands.Operand; `identity` is the object's, a number."""

    kind: str
    callable: bool
    length: int | None
    holds: int | None
    identity: int
    items: str = ""
    elements: int | None = None
    parts: tuple[tuple[str, str], ...] = ()


def facts_of(value: Any) -> OperandFacts | None:
    """None for numbers, None and modules, of which there is nothing to say."""
    kind = type(value)
    if id(kind) in _NUMBERS:
        return None
    if id(kind) in _FUNCTIONS:
        return OperandFacts(f"{_text(value, '__module__')}.{_text(value, '__qualname__')}", True, None, None, id(value))
    name = kind_name(kind)
    length = _length(value, kind, name)
    first = value[0] if length and id(kind) in _ORDERED else None
    items = kind_name(type(first)) if length and id(kind) in _ORDERED else ""
    elements = _elements(value, kind, name)
    told = length is not None or elements is not None
    holds = None if told else _holds(value)
    return OperandFacts(name, False, length, holds, id(value), items, elements, _parts(first))


def _parts(item: Any) -> tuple[tuple[str, str], ...]:
    if type(item) is dict:
        named = [(key, item[key]) for key in islice(item, _MOST_PARTS) if type(key) is str and key.isidentifier()]
        return tuple((repr(key), kind_name(type(part))) for key, part in named)
    if id(type(item)) in _ORDERED:
        return tuple((str(at), kind_name(type(part))) for at, part in enumerate(islice(item, _MOST_PARTS)))
    return ()


def attribute(value: Any, name: str) -> tuple[bool, Any]:
    """Whether the object itself has that attribute, and what it is; what its class has, or computes, does not count."""
    held = vars(value) if type(value) is ModuleType else attributes_of(value)
    if held is None or name not in held:
        return False, None
    return True, held[name]


def _length(value: Any, kind: type, name: str) -> int | None:
    if id(kind) in _SIZED:
        return len(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray:
        return int(value.shape[0]) if value.ndim else None
    if name.startswith("pandas.") and name.endswith(_TABLES):
        axes = _axes(value)
        return axes[-1] if axes else None
    return None


def _elements(value: Any, kind: type, name: str) -> int | None:
    """Of an array, a table or a tensor; not where a mode of the user's would be asked for it."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None and kind is numpy.ndarray:
        return int(value.size)
    if name.startswith("pandas.") and name.endswith(_TABLES):
        axes = _axes(value)
        return math.prod(axes) if axes else None
    # half imported modules lack both
    asked = getattr(getattr(torch, "_C", None), "_len_torch_function_stack", None)
    if asked is None or kind is not getattr(torch, "Tensor", None) or asked():
        return None
    return int(value.numel())


def _axes(value: Any) -> tuple[int, ...]:
    """How long the axes of a table of pandas are, its rows last: by its blocks, past the properties that a class
    derived from it may put in their place. Empty where that is not known."""
    held = attributes_of(value)
    blocks = held.get("_mgr") if held else None
    if blocks is None or not _is_of_pandas(blocks):
        return ()
    axes = blocks.axes
    return tuple(len(each) for each in axes) if all(_is_of_pandas(each) for each in axes) else ()


def _is_of_pandas(value: Any) -> bool:
    return _of_type(type(value), "__module__").partition(".")[0] == "pandas"


def _holds(value: Any) -> int | None:
    held = attributes_of(value)
    if not held or len(held) > _MOST_ATTRIBUTES:
        return None
    numpy = sys.modules.get("numpy")
    lengths = [len(each) for each in held.values() if id(type(each)) in _SIZED]
    if numpy is not None:
        lengths += [int(each.shape[0]) for each in held.values() if type(each) is numpy.ndarray and each.ndim]
    return max(lengths, default=None)


def _text(value: Any, name: str) -> str:
    found = getattr(value, name, None)
    return found if type(found) is str else ""


def kind_name(kind: type) -> str:
    """`numpy.ndarray`, `__main__.Net`."""
    return f"{_of_type(kind, '__module__')}.{_of_type(kind, '__qualname__')}"


def _of_type(kind: type, name: str) -> str:
    """By `type` itself: a metaclass may answer otherwise."""
    if name == "__qualname__":
        return type.__dict__["__qualname__"].__get__(kind)  # type: ignore[no-any-return]
    found = type.__dict__["__module__"].__get__(kind)
    return found if type(found) is str else ""
