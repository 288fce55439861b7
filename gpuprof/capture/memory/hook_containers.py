"""What the forward hooks of models can reach to keep things in: lists, dicts, and objects that hold them."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from gpuprof.capture.base.attributes import attributes_of

_REGISTERED = ("_forward_hooks", "_forward_pre_hooks")
_MOST_MODULES = 5000
_MOST_HOOKS = 200
_MOST_INSIDE = 100
_MOST_CONTAINERS = 20_000
_DEPTH = 2


@dataclass(frozen=True)
class Hook:
    """A forward hook: the `name` of its function, the `module` that calls it, and the function itself."""

    name: str
    module: str
    function: Any


def hooks_of(modules: list[tuple[str, Any]]) -> Iterator[Hook]:
    """The hooks of these modules and of those inside them; no code of theirs runs."""
    waiting, seen, found = list(modules), set[int](), 0
    while waiting and len(seen) < _MOST_MODULES:
        path, module = waiting.pop(0)
        state = getattr(module, "__dict__", None)
        if id(module) in seen or type(state) is not dict:
            continue
        seen.add(id(module))
        for attribute in _REGISTERED:
            for function in _values(state.get(attribute)):
                if found < _MOST_HOOKS:
                    found += 1
                    yield Hook(_name(function), path, function)
        children = state.get("_modules")
        if isinstance(children, dict):
            waiting.extend((f"{path}.{name}", each) for name, each in dict.items(children) if each is not None)


class Containers:
    """Finds lists, deques and dicts inside of values, at most so many in its life, and not those of torch modules."""

    def __init__(self, most: int = _MOST_CONTAINERS):
        self._left = most

    def of_hook(self, function: Any) -> list[Any]:
        """Those that a hook reaches: its closure, the globals it names, what it is bound to."""
        found: list[Any] = []
        for value in _reached(function):
            self._collect(value, _DEPTH, found, through_module=True)
        return found

    def names(self, namespace: Mapping[str, Any]) -> dict[int, set[str]]:
        """By the id of each container the names that hold it, themselves or inside of what they hold."""
        names: dict[int, set[str]] = {}
        for name, value in list(namespace.items()):
            if not isinstance(name, str) or name.startswith("_") or name in ("In", "Out"):
                continue
            found: list[Any] = []
            self._collect(value, _DEPTH, found)
            for each in found:
                names.setdefault(id(each), set()).add(name)
        return names

    def _collect(self, value: Any, depth: int, found: list[Any], *, through_module: bool = False) -> None:
        kind = type(value)
        self._left -= 1
        if self._left < 0:
            return
        if issubclass(kind, list | deque | dict):
            found.append(value)
            inner = _values(value)
        elif _is_module(value) and not through_module:
            return
        else:
            attributes = attributes_of(value)
            inner = [] if attributes is None else list(attributes.values())
        if depth:
            for each in inner[:_MOST_INSIDE]:
                self._collect(each, depth - 1, found)


def _reached(function: Any) -> Iterator[Any]:
    kind = type(function)
    if kind is functools.partial:
        yield from (*function.args, *function.keywords.values())
        yield from _reached(function.func)
    elif kind is MethodType:
        yield function.__self__
        yield from _reached(function.__func__)
    elif kind is FunctionType:
        for cell in function.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not filled yet
                continue
        yield from function.__defaults__ or ()
        for name in _global_names(function.__code__):
            if name in function.__globals__:
                yield function.__globals__[name]
    else:
        yield function


def _global_names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            names |= set(each.co_names)
    return names


def _is_module(value: Any) -> bool:
    import torch

    return issubclass(type(value), torch.nn.Module)


def _values(value: Any) -> list[Any]:
    return list(dict.values(value)) if issubclass(type(value), dict) else []


def _name(function: Any) -> str:
    kind = type(function)
    if kind is functools.partial:
        return _name(function.func)
    if kind is MethodType:
        return _name(function.__func__)
    return function.__name__ if kind is FunctionType else kind.__name__
