"""Finds the models that a running cell works with, by looking where its variables are; keeps none of them alive."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any

from gpuprof.capture.base.attributes import attributes_of

_MOST_FRAMES = 30
_MOST_NAMES = 5000

Named = tuple[str, Any]


def modules_in(namespace: Mapping[str, Any]) -> list[Named]:
    """`(name, module)` of every torch.nn.Module among the values, those inside another one left out."""
    return _outermost(_named_modules(namespace.items()))


def modules_around(frame: FrameType | None, namespace: Mapping[str, Any] | None) -> list[Named]:
    """The same, among the variables of that frame and its callers, their attributes, and `namespace`."""
    found: list[Named] = []
    seen = {id(namespace)}
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if id(frame.f_globals) not in seen:
            seen.add(id(frame.f_globals))
            found.extend(_named_modules(frame.f_globals.items()))
        found.extend(_in_locals(frame))
        frame = frame.f_back
    if namespace is not None:
        found.extend(_named_modules(namespace.items()))
    return _outermost(found)


def _in_locals(frame: FrameType) -> list[Named]:
    if not frame.f_code.co_flags & inspect.CO_OPTIMIZED or sys.gettrace() is not None:
        return []
    variables = frame.f_locals
    found = list(_named_modules(variables.items()))
    for value in list(variables.values()):
        attributes = attributes_of(value)
        if attributes:
            found.extend(_named_modules(list(attributes.items())))
    value = attributes = None
    # before Python 3.13 this is a copy that the frame keeps: it would hold the user's tensors alive
    if sys.version_info < (3, 13) and sys.getrefcount(variables) == 3:
        variables.clear()
    return found


def _named_modules(items: Iterable[Named]) -> Iterator[Named]:
    import torch

    for number, (name, value) in enumerate(list(items)):
        if number >= _MOST_NAMES:
            return
        if isinstance(name, str) and issubclass(type(value), torch.nn.Module):
            yield name, value


def _outermost(found: Iterable[Named]) -> list[Named]:
    known: dict[int, Named] = {}
    for name, module in found:
        known.setdefault(id(module), (name, module))
    inside = {
        id(part)
        for _, module in known.values()
        for part in module.modules()
        if part is not module and id(part) in known
    }
    return [each for key, each in known.items() if key not in inside]
