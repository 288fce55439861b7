"""The tensors and arrays inside of a value, found without running any code of the user's objects, in a limited time."""

from __future__ import annotations

import gc
import itertools
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from types import NoneType
from typing import Any

from gpuprof.capture.base.attributes import attributes_of
from gpuprof.capture.base.storages import is_tensor
from gpuprof.capture.memory.array_memory import is_array

_MOST_OBJECTS = 50_000
_BETWEEN_LOOKS = 16
# `exit` leads to the shell, which leads to everything
_MACHINERY = ("IPython", "ipykernel", "gpuprof", "traitlets")
_SEQUENCES = (list, tuple, set, frozenset, deque)
_ITERATES = tuple(each.__iter__ for each in _SEQUENCES)
_PLAIN = (int, float, str, bool, bytes, NoneType)
_DEPTH = 5
# a dict with other or more keys is a table of many items
_MOST_ENTRIES = 12
_FEWEST_ITEMS = 4
EACH = "[…]"
# what is inside of an object, and how each is reached: in one way, or each in its own
_Inside = tuple[list[Any], str | list[str]]


class HeldValues:
    """Goes through values, each object once. The caller adds what it finds to `bytes`.

    While it goes: `steps` lead to the tensor at hand (`[…]` for each item of a container, `.history`, `["state"]`; the
    empty one goes into a model or optimizer), `cycles` tells within how many `itertools.cycle` it is. After a value:
    `missing_bytes` is about what was not looked at because time was up, by the items of the same containers that were.
    """

    def __init__(self, most_ns: int) -> None:
        self.until_ns = time.thread_time_ns() + most_ns
        self.bytes = 0
        self.missing_bytes = 0
        self.cycles = 0
        self.steps: list[str] = []
        self._visited: set[int] = set()
        self._late = False

    def set_aside(self, part: float) -> int:
        """Leave that part of the time to what comes later; returns it in ns, for the caller to give back."""
        left_ns = max(round(part * (self.until_ns - time.thread_time_ns())), 0)
        self.until_ns -= left_ns
        return left_ns

    def of(self, value: Any) -> Iterator[Any]:
        """Its tensors and arrays, each tensor's gradient right after it."""
        self.steps.clear()
        self.missing_bytes, self._late = 0, False
        self.missing_bytes = yield from self._values(value, _DEPTH)

    def _values(self, value: Any, depth: int) -> Generator[Any, None, int]:
        """Returns about how many bytes were left out."""
        if is_array(value):
            yield value
            return 0
        if is_tensor(value):
            yield value
            if value.is_leaf and value.grad is not None:
                yield value.grad
            return 0
        if depth == 0 or id(value) in self._visited or len(self._visited) > _MOST_OBJECTS:
            return 0
        if self._is_late():
            return 0
        found = inside(value, top=depth == _DEPTH)
        if found is None:
            return 0
        self._visited.add(id(value))
        return (yield from self._items(value, *found, depth))

    def _items(self, value: Any, inner: list[Any], step: str | list[str], depth: int) -> Generator[Any, None, int]:
        cycle = type(value) is itertools.cycle
        rates, missing = _Rates(self.bytes), 0
        self.steps.append(step if isinstance(step, str) else "")
        for at, each in enumerate(inner):
            # most of a long list, with half the time that a call takes
            if type(each) in _PLAIN:
                continue
            if not isinstance(step, str):
                self.steps[-1] = step[at]
            # what it has handed out is in a list
            kept, before = cycle and type(each) is list, self.bytes
            self.cycles += kept
            left = yield from self._values(each, depth - 1)
            self.cycles -= kept
            missing += left
            if not self._late or left or self.bytes > before:
                rates.note(at + 1, self.bytes + missing)
            # the clock takes as long as what it measures
            if self._late or (at % _BETWEEN_LOOKS == 0 and self._is_late()):
                if isinstance(step, str) and type(inner[-1]) is type(each):
                    missing += rates.rest(len(inner))
                break
        self.steps.pop()
        return missing

    def _is_late(self) -> bool:
        self._late = time.thread_time_ns() > self.until_ns
        return self._late


class _Rates:
    """Bytes by the items of one container, as it is gone through."""

    def __init__(self, before: int) -> None:
        self._marks = [(0, before)]
        self._last = (0, before)

    def note(self, items: int, bytes_so_far: int) -> None:
        self._last = items, bytes_so_far
        if items & (items - 1) == 0:
            self._marks.append(self._last)

    def rest(self, items: int) -> int:
        """What those of `items` that are left would have: no more than the last ones did each. The same again and again
        has nothing."""
        seen, sum_bytes = self._last
        if seen < _FEWEST_ITEMS:
            return 0
        half = max(mark for mark in self._marks if mark[0] <= seen // 2)
        rate = min((sum_bytes - before) / (seen - number) for number, before in (self._marks[0], half))
        return round(rate * (items - seen))


def inside(value: Any, *, top: bool) -> _Inside | None:
    """What an object holds, where that can be told without running code of its own, and the steps to it: one text for
    all that is alike, empty in models and optimizers. `top`: a name holds it."""
    import torch

    kind = type(value)
    if issubclass(kind, dict):
        inner = list(dict.values(value))
        return inner, EACH if top or not _has_entries(value) else [f'["{key}"]' for key in dict.keys(value)]
    if issubclass(kind, _SEQUENCES):
        if kind.__iter__ not in _ITERATES:
            return [], EACH
        parts = not top and issubclass(kind, tuple) and len(value) <= _MOST_ENTRIES
        return list(value), [f"[{number}]" for number in range(len(value))] if parts else EACH
    if kind is itertools.cycle:
        # its iterator, and the list of what that has given so far
        return gc.get_referents(value), ""
    if issubclass(kind, torch.nn.Module):
        return [*value.parameters(), *value.buffers()], ""
    if issubclass(kind, torch.optim.Optimizer):
        return [*value.state.values(), *(each for group in value.param_groups for each in group["params"])], ""
    if str(kind.__module__).startswith(_MACHINERY):
        return None
    attributes = attributes_of(value)
    return None if attributes is None else (list(attributes.values()), [f".{name}" for name in attributes])


def _has_entries(value: dict[Any, Any]) -> bool:
    """Whether it is a record of a few things by their names, not a table of many alike."""
    keys: Sequence[Any] = list(dict.keys(value))
    return len(keys) <= _MOST_ENTRIES and all(type(key) is str and key.isidentifier() for key in keys)
