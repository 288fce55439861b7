"""A bounded log of which module was called when, per thread, and the calls that it amounts to."""

from __future__ import annotations

import functools
import threading
import weakref
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np

from gpuprof.model.table import Array

# 13 MB
MOST_CALLS = 400_000
_MOST_MODULES = 50_000
ENTRIES = 4  # of one call: the module's number and when it began, -1 and when it ended


class ThreadMarks:
    """The entries of one thread, with its id as the system gives it."""

    def __init__(self) -> None:
        self.tid = threading.get_native_id()
        self.entries = array("q")


class MarkLog:
    """The logs of all threads, and the modules that they name, by number: weak references and the names of classes."""

    def __init__(self) -> None:
        self.threads: list[ThreadMarks] = []
        # by the thread itself: its id goes to another one once it has ended
        self.local = threading.local()
        self.numbers: dict[int, int] = {}
        self.references: list[weakref.ref[Any]] = []
        self.kinds: list[str] = []

    def clear(self) -> None:
        """Begin anew; a call that is under way ends in the log that it began in."""
        # without its reference a module that goes takes no number with it any more
        for each in (self.references, self.threads, self.numbers, self.kinds):
            each.clear()
        self.local = threading.local()

    @property
    def calls(self) -> int:
        """How many have begun."""
        return sum(len(each.entries) for each in list(self.threads)) // ENTRIES

    def new_thread(self) -> Callable[[int], None]:
        """What appends to the log of the calling thread, from its first call on."""
        marks = ThreadMarks()
        self.threads.append(marks)
        self.local.append = marks.entries.append
        return marks.entries.append

    def new_module(self, module: Any) -> int:
        """The number of a module that has not been seen."""
        number, key, numbers = len(self.kinds), id(module), self.numbers
        if number >= _MOST_MODULES:  # made anew in every iteration, and all alive
            return _MOST_MODULES - 1
        self.kinds.append(type(module).__name__)
        # once it is gone, another object may have its address
        self.references.append(weakref.ref(module, functools.partial(numbers.pop, key)))
        numbers[key] = number
        return number

    def outermost(self) -> list[int]:
        """Numbers of the modules that were called outside of any other, in the order of their first calls."""
        found: dict[int, None] = {}
        for marks in list(self.threads):
            entries = _entries(marks)
            deep = np.cumsum(np.where(entries[:, 0] >= 0, 1, -1))
            found |= dict.fromkeys(entries[(deep == 1) & (entries[:, 0] >= 0), 0].tolist())
        return list(found)

    def columns(self, end_ns: int) -> dict[str, Array]:
        """Every call, `start_ns`, `duration_ns`, `tid` and `module` (its number); those under way end at `end_ns`."""
        parts = [_calls(marks, end_ns) for marks in list(self.threads)]
        names = ("start_ns", "duration_ns", "tid", "module")
        if not parts:
            return dict.fromkeys(names, np.empty(0, np.int64))
        return dict(zip(names, (np.concatenate(each) for each in zip(*parts, strict=True)), strict=True))


def _entries(marks: ThreadMarks) -> Array:
    """Pairs of a number, or -1, and a time: shape `(entries, 2)`."""
    whole = len(marks.entries) // 2 * 2
    return np.array(marks.entries[:whole], np.int64).reshape(-1, 2)


def _calls(marks: ThreadMarks, end_ns: int) -> tuple[Array, Array, Array, Array]:
    """Each beginning with the next end that is as deep."""
    entries = _entries(marks)
    begins = entries[:, 0] >= 0
    deep = np.cumsum(np.where(begins, 1, -1)) + ~begins
    order = np.argsort(deep, kind="stable")
    following = np.append(order[1:], -1)[: len(order)]
    ended = np.append(np.diff(deep[order]) == 0, False)[: len(order)] & ~begins[following]
    # a call that was under way at the end may have told its own later
    ends = np.where(ended, np.minimum(entries[following, 1], end_ns), end_ns)
    opening = begins[order]
    rows = np.sort(order[opening])
    end_of = np.empty(len(entries), np.int64)
    end_of[order] = ends
    starts = entries[rows, 1]
    return starts, np.maximum(end_of[rows] - starts, 0), np.full(len(rows), marks.tid), entries[rows, 0]
