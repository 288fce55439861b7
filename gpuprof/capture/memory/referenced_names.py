"""Which names the profiled cell, or any function defined in the notebook, mentions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any

_NAME = re.compile(r"[^\W\d]\w*")
_MOST_CODE = 5000


class ReferencedNames:
    """`uses(name)` is true for what may be in use: a word of the cell's source (comments and texts included), or a
    name in the code of a function or class of the namespace. Without a source every name may be in use."""

    def __init__(self, namespace: Mapping[str, Any], source: str | None):
        self._unknown = source is None
        self._words = set(_NAME.findall(source or ""))
        for value in list(namespace.values()):
            for code in _code_of(value):
                self._add(code)

    def uses(self, name: str) -> bool:
        """Whether it is mentioned."""
        return self._unknown or name in self._words

    def _add(self, code: CodeType) -> None:
        waiting = [code]
        for _ in range(_MOST_CODE):
            if not waiting:
                return
            one = waiting.pop()
            self._words.update(one.co_names)
            waiting.extend(each for each in one.co_consts if isinstance(each, CodeType))


def _code_of(value: Any) -> list[CodeType]:
    if type(value) is FunctionType:
        return [value.__code__] if value.__module__ == "__main__" else []
    if issubclass(type(value), type) and value.__module__ == "__main__":
        members = (getattr(each, "__func__", None) or getattr(each, "fget", None) or each for each in _members(value))
        return [each.__code__ for each in members if isinstance(each, FunctionType)]
    return []


def _members(kind: type) -> list[Any]:
    return list(vars(kind).values())
