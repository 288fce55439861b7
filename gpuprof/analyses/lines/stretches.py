"""What the cell's thread was in over the whole cell: sampled stacks, and exact lines where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.hooked_time import hooked_kinds, hooked_weights
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_INNERMOST = 0.9  # of the looks in a line's stays: then that line is the innermost there


@dataclass(frozen=True, eq=False)
class Stretches(Result):
    """Arrays of one shape: `start_ns` (Unix time), `duration_ns`, `node` (row of `stack_nodes`, -1: no code of the
    user), `exact`, `spent_ns`, `measured`. They add up to `total_ns`; empty where no stack was sampled.

    `spent_ns` (float) is what a stretch counts for: where light hooks timed all steps of optimizers or all waits for
    batches, the samples of these are weighted so that they add up to that, and the other samples to the rest. It is
    `measured` which of them have such a sum, or are `exact`.

    While kernels were recorded the line of most operators is known exactly: such a stretch stands in place of what was
    sampled there, with that of the stacks looked at in its line which was seen nearest in time: a line of a model's is
    run by an evaluation now and by training then. Where looks in such a stretch show functions that its line called,
    the samples stand: a wait for data is known to be the loop's line, but its time is that of the dataset's lines.
    """

    start_ns: Array
    duration_ns: Array
    node: Array
    exact: Array
    spent_ns: Array
    measured: Array

    @property
    def total_ns(self) -> int:
        """The whole, ns."""
        return int(self.duration_ns.sum())

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the samples, the line events and the looks."""
        samples = trace.stack_samples
        start, lasted, node = samples["start_ns"], samples["duration_ns"], samples["node"]
        if trace.context.stacks is None or not len(samples):
            none = np.zeros(0, np.int64)
            return cls(none, none, none, none > 0, none.astype(np.float64), none > 0)
        known, nodes = _known(trace, results)
        covered = intervals.covered(intervals.union(known), start, start + lasted)
        exact = np.repeat([False, True], [len(samples), len(nodes)])
        starts = np.concatenate((start, known.starts))
        lasts = np.concatenate((lasted - covered, known.ends - known.starts))
        at = np.concatenate((node, nodes))
        return cls(starts, lasts, at, exact, *hooked_weights(trace, hooked_kinds(trace)[at], starts, lasts, exact))

    def error(self, share: Array, exact_share: Array, trace: Trace) -> Array:
        """The standard error of shares (0..1) of the whole, of which `exact_share` was not sampled."""
        stacks = trace.context.stacks
        assert stacks is not None
        sampled_ns = int(self.duration_ns[~self.exact].sum())
        part = sampled_ns / self.total_ns if self.total_ns else 0.0
        within = (share - exact_share) / part if part else np.zeros_like(share)
        return share_error(within, sampled_ns, stacks) * part


def _known(trace: Trace, results: Results) -> tuple[Intervals, Array]:
    """The stays of the main thread in a known line, in Unix time, each with the row of a stack seen in that line."""
    places, ahead_ns = results.get(LinePlaces), trace.context.sampling.get("clock_offset_ns") or 0
    looks = _looks_by_line(trace, results, ahead_ns)
    if places.how is None or not looks or not len(places.within.starts):
        return intervals.EMPTY, np.zeros(0, np.int64)
    events, within = places.events, places.within
    starts = np.maximum(events["time_ns"], within.starts[0])
    ends = np.minimum(places.end_ns, within.ends[-1])
    mine = (places.thread == places.main_thread) & (events["line"] > 0) & (ends > starts)
    files, lines, nodes = events["source_file"], events["line"], np.full(len(starts), -1, np.int64)
    all_times = np.unique(np.concatenate([times for times, _ in looks.values()]))
    for (file, line), (times, seen) in looks.items():
        rows = np.flatnonzero(mine & (files == file) & (lines == line))
        stays = Intervals(starts[rows], ends[rows])
        if _within(stays, times) >= _INNERMOST * _within(stays, all_times):
            nodes[rows] = seen[_nearest(times, starts[rows], ends[rows])]
    rows = np.flatnonzero(nodes >= 0)
    return Intervals(starts[rows] - ahead_ns, ends[rows] - ahead_ns), nodes[rows]


def _within(stays: Intervals, times: Array) -> int:
    return int(intervals.contains(intervals.union(stays), times).sum())


def _nearest(times: Array, starts: Array, ends: Array) -> Array:
    """For each stay the index of the nearest of `times` (in order): one within it, where there is one."""
    after = np.minimum(np.searchsorted(times, starts), len(times) - 1)
    before = np.maximum(after - 1, 0)
    nearer: Array = np.where(np.maximum(times[after] - ends, 0) <= starts - times[before], after, before)
    return np.where(times[after] < starts, after, nearer)


def _looks_by_line(trace: Trace, results: Results, ahead_ns: int) -> dict[tuple[int, int], tuple[Array, Array]]:
    """By row of the followed files and line: when stacks were looked at in it, in order, and their nodes."""
    followed, stacks, lines = trace.context.lines, trace.context.stacks, results.get(StackLines)
    if followed is None or stacks is None:
        return {}
    own = [each.filename for each in stacks.files if each.kind in ("cell", "notebook")]
    row_of = {each.filename: row for row, each in enumerate(followed.files)}
    seen: dict[tuple[int, int], list[tuple[int, int]]] = {}
    times = trace.stack_instants["time_ns"] + ahead_ns
    for time, node in sorted(zip(times.tolist(), trace.stack_instants["node"].tolist(), strict=True)):
        if node >= 0 and lines.source_file[node] >= 0:
            row = row_of.get(own[lines.source_file[node]], -1)
            seen.setdefault((row, int(lines.line[node])), []).append((time, node))
    found = {key: np.array(each, np.int64) for key, each in seen.items()}
    return {key: (each[:, 0], each[:, 1]) for key, each in found.items()}
