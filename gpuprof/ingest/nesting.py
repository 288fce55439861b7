"""Which row stands around which, on one host thread: operators around operators, frames around frames."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array, Table

_DEEPEST = np.iinfo(np.int16).max


def slack_ns(table: Table) -> int:
    """How far a child may outlast its parent in ns: 1,000 where every time is a whole µs, else 0.

    Old traces floor start and duration apart, so a child can seem to end 1 µs after the operator that called it.
    """
    whole = not (table["start_ns"] % 1000).any() and not (table["duration_ns"] % 1000).any()
    return 1000 if len(table) and whole else 0


def nest(table: Table, slack: int | None = None) -> tuple[Array, Array]:
    """Parent (row, -1 at the top; int32) and depth (0 at the top; int16), both of shape `(len(table),)`.

    Rows are sorted by start, longest first. The parent is the latest earlier row of the same thread that begins
    before the row ends up inside it: it starts no later, ends after the row starts, and ends no earlier than the row
    (less `slack` ns; by default `slack_ns(table)`). A row without duration has no children.
    """
    slack = slack_ns(table) if slack is None else slack
    laminar = _laminar(table) if slack == 0 else None
    if laminar is not None:
        return laminar
    starts = table["start_ns"].tolist()
    ends = (table["start_ns"] + table["duration_ns"]).tolist()
    parent, depth = [-1] * len(starts), [0] * len(starts)
    open_rows: dict[int, list[int]] = {}
    for row, (thread, start, end) in enumerate(zip(table["thread"].tolist(), starts, ends, strict=True)):
        stack = open_rows.setdefault(thread, [])
        while stack and (ends[stack[-1]] <= start or ends[stack[-1]] + slack < end):
            stack.pop()
        if stack:
            parent[row], depth[row] = stack[-1], len(stack)
        stack.append(row)
    return np.array(parent, np.int32), np.minimum(np.array(depth, np.int64), _DEEPEST).astype(np.int16)


def _laminar(table: Table) -> tuple[Array, Array] | None:
    """The same where every two rows of a thread lie apart or one in the other, each with a duration; else None.

    Then the rows open around a row are those that began before it less those that ended before it, and its parent is
    the last one before it that is one less deep.
    """
    if not len(table) or int(table["duration_ns"].min()) <= 0:
        return None
    starts, ends = table["start_ns"], table["start_ns"] + table["duration_ns"]
    parent, depth = np.full(len(table), -1, np.int32), np.zeros(len(table), np.int64)
    for thread in np.unique(table["thread"]):
        rows = np.flatnonzero(table["thread"] == thread)
        deep = np.arange(len(rows)) - np.searchsorted(np.sort(ends[rows]), starts[rows], side="right")
        depth[rows] = deep
        for level in range(1, int(deep.max()) + 1):
            inner = rows[deep == level]
            around = rows[deep == level - 1]
            outer = around[np.searchsorted(around, inner) - 1]
            if (ends[outer] < ends[inner]).any():
                return None
            parent[inner] = outer
    return parent, np.minimum(depth, _DEEPEST).astype(np.int16)


def innermost(outer: Table, parent: Array, thread: Array, times: Array) -> Array:
    """For each instant the innermost row of `outer` that is open then on that thread, [start, end); int32, -1 if none.

    `outer` is sorted by start, longest first, and `parent` is what `nest` gave for it. `thread` and `times` have
    shape `(n,)`.
    """
    found = np.full(len(times), -1, np.int32)
    ends = outer["start_ns"] + outer["duration_ns"]
    for number in np.unique(thread):
        rows = np.flatnonzero(outer["thread"] == number)
        asked = np.flatnonzero(thread == number)
        if not len(rows):
            continue
        position = np.searchsorted(outer["start_ns"][rows], times[asked], side="right") - 1
        row = np.where(position >= 0, rows[np.maximum(position, 0)], -1)
        while (over := (row >= 0) & (ends[row] <= times[asked])).any():
            row[over] = parent[row[over]]
        found[asked] = row
    return found
