"""A map with weak keys that hooks ask for the same key again and again."""

from __future__ import annotations

import weakref
from typing import Any, Generic, TypeVar

_V = TypeVar("_V")


class RecentWeakMap(Generic[_V]):
    """Objects by identity of hashable keys that are held weakly. The last key is found without a search, which takes
    `weakref.WeakKeyDictionary` a microsecond."""

    def __init__(self) -> None:
        self._all: weakref.WeakKeyDictionary[Any, _V] = weakref.WeakKeyDictionary()
        # together, so that another thread sees both
        self._last: tuple[Any, _V | None] = (lambda: None, None)

    def get(self, key: Any) -> _V | None:
        """What is kept for it; None for nothing."""
        last, value = self._last
        if last() is key:
            return value
        value = self._all.get(key)
        if value is not None:
            self._last = (weakref.ref(key), value)
        return value

    def set(self, key: Any, value: _V) -> None:
        """Keep it for that key, as long as the key lives. TypeError where it cannot be held weakly."""
        self._all[key] = value
        self._last = (weakref.ref(key), value)

    def forget(self, key: Any) -> None:
        """Keep nothing for it."""
        self._all.pop(key, None)
        self._last = (lambda: None, None)
