"""A bounded log of which line runs when, per thread, and what it means once the calls are followed back."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Table

# 8 MB, and a quarter of a second to read at the end
MOST_ENTRIES = 500_000
BITS = 24
LEFT = (1 << BITS) - 1  # in the place of a line: the function was left
ENTERED = 0  # and: it was entered, no line of it has begun
_NOWHERE = (-1, -1, -1)


class ThreadLog:
    """The entries of one thread: a Unix time in ns, and `place << BITS | line` with ENTERED and LEFT as lines."""

    def __init__(self) -> None:
        self.tid = threading.get_native_id()
        self.times = array("q")
        self.keys = array("q")

    def add(self, key: int) -> None:
        """Note `key` now."""
        self.times.append(time.time_ns())
        self.keys.append(key)


class LineLog:
    """The logs of all threads. A *place* is a code object (or a file, where calls are watched): it has a file.

    `files` are file names, the profiled cell's first ("" where it is not known).
    """

    def __init__(self, cell_filename: str | None):
        self.files = [cell_filename or ""]
        self.file_of_place: list[int] = []
        self._threads: dict[int, ThreadLog] = {}

    def clear(self) -> None:
        """Forget every entry, and keep the places."""
        self._threads.clear()

    def new_place(self, filename: str) -> int:
        """The number of a new place in that file, shifted by BITS: add a line to it."""
        if filename not in self.files:
            self.files.append(filename)
        self.file_of_place.append(self.files.index(filename))
        return (len(self.file_of_place) - 1) << BITS

    def of_thread(self) -> ThreadLog:
        """The log of the calling thread."""
        ident = threading.get_ident()
        log = self._threads.get(ident)
        if log is None:
            log = self._threads[ident] = ThreadLog()
        return log

    @property
    def entries(self) -> int:
        """How many there are."""
        return sum(len(log.keys) for log in list(self._threads.values()))

    def table(self) -> Table:
        """What ran when (schema.LINE_EVENTS), in order of time."""
        parts = [(log.tid, _resolved(log.times, log.keys, self.file_of_place)) for log in self._threads.values()]
        tables = [{**columns, "tid": np.full(len(columns["time_ns"]), tid)} for tid, columns in parts]
        if not tables:
            return Table(LINE_EVENTS)
        joined = {name: np.concatenate([columns[name] for columns in tables]) for name in tables[0]}
        table = Table(LINE_EVENTS, joined)
        return table.take(np.argsort(table["time_ns"], kind="stable"))


def _resolved(times: Iterable[int], keys: Iterable[int], file_of_place: Sequence[int]) -> dict[str, np.ndarray]:
    """Follow calls and returns: after a return the caller's line goes on. An exception that passes through a function
    shows only in the next line of somebody further out; what stands between the two had ended by then."""
    rows: list[tuple[int, int, int, int, bool]] = []
    stack: list[tuple[int, int, int]] = []  # place, line, line of the cell that led here
    for moment, key in zip(times, keys, strict=False):
        place, line = key >> BITS, key & LEFT
        if line == ENTERED:
            stack.append((place, -1, stack[-1][2] if stack else -1))
            continue
        if not stack or stack[-1][0] != place:
            _unwind(stack, place)
        _, _, cell_line = stack.pop() if stack else _NOWHERE
        if line == LEFT:
            outer, line, cell_line = stack[-1] if stack else _NOWHERE
            file = file_of_place[outer] if line > 0 else -1
            rows.append((moment, file, line, cell_line, False))
            continue
        file = file_of_place[place]
        stack.append((place, line, line if file == 0 else cell_line))
        rows.append((moment, file, *stack[-1][1:], True))
    columns = np.array(rows, np.int64).reshape(-1, 5).T
    return dict(zip(("time_ns", "source_file", "line", "cell_line", "begins"), columns, strict=True))


def _unwind(stack: list[tuple[int, int, int]], place: int) -> None:
    """Drop what has ended inside `place`; where that is not on the stack (seen first in its middle), put it there."""
    if any(each[0] == place for each in stack):
        while stack[-1][0] != place:
            stack.pop()
    else:
        stack.append((place, -1, stack[-1][2] if stack else -1))
