"""What the cell's thread was in over the whole cell: sampled stacks, and exact lines where they are known."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class Stretches(Result):
    """Arrays of one shape: `start_ns` (Unix time), `duration_ns`, `node` (row of `stack_nodes`, -1: no code of the
    user), `exact`. They add up to `total_ns`; empty where no stack was sampled.

    While kernels were recorded the line of most operators is known exactly: such a stretch stands in place of what was
    sampled there, with the stacks that were looked at in its line, in their proportion.
    """

    start_ns: Array
    duration_ns: Array
    node: Array
    exact: Array

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
            return cls(none, none, none, np.zeros(0, bool))
        known, nodes = _known(trace, results)
        covered = intervals.covered(intervals.union(known), start, start + lasted)
        exact = np.repeat([False, True], [len(samples), len(nodes)])
        return cls(
            np.concatenate((start, known.starts)),
            np.concatenate((lasted - covered, known.ends - known.starts)),
            np.concatenate((node, nodes)),
            exact,
        )

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
    stacks = _stacks_by_line(trace, results)
    if places.how is None or not stacks or not len(places.within.starts):
        return intervals.EMPTY, np.zeros(0, np.int64)
    events, within = places.events, places.within
    starts = np.maximum(events["time_ns"], within.starts[0])
    ends = np.minimum(places.end_ns, within.ends[-1])
    mine = (places.thread == places.main_thread) & (events["line"] > 0) & (ends > starts)
    rows, nodes, turn = [], [], Counter[tuple[int, int]]()
    at = np.flatnonzero(mine)
    places_of = zip(events["source_file"][at].tolist(), events["line"][at].tolist(), strict=True)
    for row, key in zip(at.tolist(), places_of, strict=True):
        if key in stacks:
            choice, share = stacks[key]
            turn[key] += 1
            rows.append(row)
            nodes.append(choice[bisect_right(share, turn[key] * _GOLDEN % 1.0)])
    return Intervals(starts[rows] - ahead_ns, ends[rows] - ahead_ns), np.array(nodes, np.int64)


def _stacks_by_line(trace: Trace, results: Results) -> dict[tuple[int, int], tuple[list[int], list[float]]]:
    """By row of the followed files and line: the stacks that were looked at in it, and their shares, added up."""
    followed, stacks, lines = trace.context.lines, trace.context.stacks, results.get(StackLines)
    if followed is None or stacks is None:
        return {}
    own = [each.filename for each in stacks.files if each.kind in ("cell", "notebook")]
    row_of = {each.filename: row for row, each in enumerate(followed.files)}
    seen: dict[tuple[int, int], Counter[int]] = {}
    for node in trace.stack_instants["node"].tolist():
        if node >= 0 and lines.source_file[node] >= 0:
            row = row_of.get(own[lines.source_file[node]], -1)
            seen.setdefault((row, int(lines.line[node])), Counter())[node] += 1
    return {key: (list(each), (np.cumsum(list(each.values())) / each.total()).tolist()) for key, each in seen.items()}
