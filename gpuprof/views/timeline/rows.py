"""Splits events that nest or overlap into rows in which none overlaps."""

from __future__ import annotations

import heapq

import numpy as np

from gpuprof.model.table import Array


def row_of_each(starts: Array, ends: Array) -> Array:
    """The row, from 0, of each event; int32 of shape `(n,)`. Events of one row never overlap.

    `starts` and `ends` are int64 ns, sorted by start, longer first where starts are equal. Nested events get their
    depth; only clusters that overlap without nesting are laid out one by one. An event without length takes 1 ns.
    """
    ends = np.maximum(ends, starts + 1)
    # Of the i events that began before, those that have ended are no longer around this one.
    rows = (np.arange(len(starts)) - np.searchsorted(np.sort(ends), starts, side="right")).astype(np.int32)
    bad = _overlapping(rows, starts, ends)
    if bad.any():
        for first, last in _clusters(starts, ends, bad):
            rows[first:last] = _one_by_one(starts[first:last], ends[first:last])
    return rows


def _overlapping(rows: Array, starts: Array, ends: Array) -> Array:
    order = np.argsort(rows, kind="stable")
    same = rows[order][1:] == rows[order][:-1]
    clash = same & (starts[order][1:] < ends[order][:-1])
    bad = np.zeros(len(rows), bool)
    bad[order[1:][clash]] = True
    return bad


def _clusters(starts: Array, ends: Array, bad: Array) -> list[tuple[int, int]]:
    """[first, last) of each maximal run of touching events that holds a bad one."""
    latest = np.maximum.accumulate(ends)
    begins = np.concatenate(([True], starts[1:] >= latest[:-1]))
    number = np.cumsum(begins) - 1
    edges = np.append(np.flatnonzero(begins), len(starts))
    return [(int(edges[c]), int(edges[c + 1])) for c in np.unique(number[bad])]


def _one_by_one(starts: Array, ends: Array) -> Array:
    rows = np.empty(len(starts), np.int32)
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    opened = 0
    for i, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            row = heapq.heappop(free)
        else:
            row, opened = opened, opened + 1
        rows[i] = row
        heapq.heappush(busy, (end, row))
    return rows
