"""One object's own state, kept so that it can be put back into that very object, as often as wanted."""

from __future__ import annotations

import io
import random
from abc import ABC, abstractmethod
from array import array
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

_MISSING = object()


class ObjectState(ABC):
    """The state of one object. `keep` copies what is large; until then only its size is known."""

    bytes = 0
    on_device = False

    def keep(self) -> None:
        """Copy what is large."""
        return

    @abstractmethod
    def restore(self) -> None:
        """Put it back."""


class DictState(ObjectState):
    """A dict, of any kind: its items in their order."""

    def __init__(self, value: dict[Any, Any]):
        self._value = value
        # a subclass may have methods of its own; an OrderedDict's order is in none of dict's
        self._kind: Any = OrderedDict if isinstance(value, OrderedDict) else dict
        self._items = list(self._kind.items(value))

    def restore(self) -> None:
        """Nothing is touched where the same objects stand in the same order."""
        now = list(self._kind.items(self._value))
        if len(now) == len(self._items) and all(
            a is c and b is d for (a, b), (c, d) in zip(now, self._items, strict=True)
        ):
            return
        self._kind.clear(self._value)
        self._kind.update(self._value, self._items)


class BindingsState(ObjectState):
    """The names of a namespace: new ones go, old ones come back; what was not touched is not touched."""

    def __init__(self, namespace: dict[str, Any]):
        self._namespace, self._items = namespace, dict(namespace)

    def restore(self) -> None:
        """Names that are still bound to the same object keep their place."""
        for name in [name for name in self._namespace if name not in self._items]:
            del self._namespace[name]
        for name, value in self._items.items():
            if self._namespace.get(name, _MISSING) is not value:
                self._namespace[name] = value


class SequenceState(ObjectState):
    """A list, deque, bytearray or array.array."""

    def __init__(self, value: Any):
        self._value, self._items = value, value[:] if isinstance(value, bytearray | array) else list(value)

    def restore(self) -> None:
        """In place."""
        if isinstance(self._value, list):
            list.__setitem__(self._value, slice(None), self._items)
        elif isinstance(self._value, deque):
            deque.clear(self._value)
            deque.extend(self._value, self._items)
        else:
            self._value[:] = self._items


class SetState(ObjectState):
    """A set."""

    def __init__(self, value: set[Any]):
        self._value, self._items = value, set(value)

    def restore(self) -> None:
        """In place."""
        set.clear(self._value)
        set.update(self._value, self._items)


class SlotsState(ObjectState):
    """The attributes of an object that are in slots."""

    def __init__(self, value: Any, names: list[str]):
        self._value = value
        self.values = {name: getattr(value, name) for name in names if hasattr(value, name)}
        self._names = names

    def restore(self) -> None:
        """Through object itself: a frozen class refuses otherwise."""
        for name in self._names:
            if name in self.values:
                object.__setattr__(self._value, name, self.values[name])
            elif hasattr(self._value, name):
                object.__delattr__(self._value, name)


class ClassState(ObjectState):
    """The attributes of a class of the user's."""

    def __init__(self, value: type):
        self._value, self._items = value, dict(vars(value))

    def restore(self) -> None:
        """Only what differs is set."""
        now = dict(vars(self._value))
        for name in now.keys() - self._items.keys():
            type.__delattr__(self._value, name)
        for name, each in self._items.items():
            if now.get(name, _MISSING) is not each:
                type.__setattr__(self._value, name, each)


class ClosureState(ObjectState):
    """A variable that a function shares with the one around it."""

    def __init__(self, cell: Any):
        self._cell = cell
        self.contents = getattr(cell, "cell_contents", _MISSING)

    @property
    def empty(self) -> bool:
        """Whether nothing was assigned yet."""
        return self.contents is _MISSING

    def restore(self) -> None:
        """An empty one is emptied again."""
        if not self.empty:
            self._cell.cell_contents = self.contents
        elif getattr(self._cell, "cell_contents", _MISSING) is not _MISSING:
            del self._cell.cell_contents


class ArrayState(ObjectState):
    """A numpy array that owns its numbers (or whose owner is no array), and its shape."""

    def __init__(self, value: np.ndarray[Any, Any]):
        self._value, self.bytes = value, value.nbytes
        self._copy: Any = None

    def keep(self) -> None:
        """Copy the numbers."""
        self._copy = self._value.copy()

    def restore(self) -> None:
        """In place."""
        if self._value.shape != self._copy.shape:
            self._value.shape = self._copy.shape
        self._value[...] = self._copy


class OwnState(ObjectState):
    """An object whose state can be asked for and set: a random number generator, a buffer in memory."""

    def __init__(self, get: Callable[[], Any], put: Callable[[Any], object]):
        self._put, self._state = put, get()

    def restore(self) -> None:
        """Set it."""
        self._put(self._state)


def own_state(value: Any) -> OwnState | None:
    """The state of a generator of random numbers, a buffer in memory or a pandas table; None for anything else."""
    import torch

    if isinstance(value, torch.Generator):
        return OwnState(value.get_state, value.set_state)
    if isinstance(value, random.Random):
        return OwnState(value.getstate, value.setstate)
    if isinstance(value, np.random.Generator):
        return own_state(value.bit_generator)
    if isinstance(value, np.random.BitGenerator):
        return OwnState(lambda: value.state, lambda state: setattr(value, "state", state))
    if isinstance(value, np.random.RandomState):
        return OwnState(lambda: value.get_state(legacy=False), value.set_state)
    if isinstance(value, io.StringIO | io.BytesIO) and not value.closed:
        return OwnState(lambda: (value.getvalue(), value.tell()), lambda state: _refill(value, *state))
    if type(value).__module__.startswith("pandas.") and hasattr(value, "_mgr"):
        return OwnState(value._mgr.copy, lambda blocks: object.__setattr__(value, "_mgr", blocks.copy()))
    return None


def _refill(buffer: Any, content: Any, position: int) -> None:
    buffer.seek(0)
    buffer.truncate()
    buffer.write(content)
    buffer.seek(position)
