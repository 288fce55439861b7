"""What the lines of the cell take in iterations without the recording, by sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

_LEAST_NS = NS_PER_S
# of the time that is asked about: so much of it lies in lines that are known
_KNOWN = 0.8
# of what is known: the lines that take the most, until they have so much of it
_MOST_OF_IT = 0.95
_ERRORS = 2.0


@dataclass(frozen=True, eq=False)
class PlainLines(Result):
    """`ns` of sampled time in iterations without the recording, by `line` of the profiled cell (-1: none), ascending;
    `total_ns` is all of it, and 0 where a second of it was not sampled."""

    line: Array
    ns: Array
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """A sample counts for the iteration in which it began."""
        rows, samples = trace.iterations, trace.stack_samples
        none = cls(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
        if not len(rows) or not len(samples) or trace.context.stacks is None:
            return none
        at = np.searchsorted(rows["start_ns"], samples["start_ns"], side="right") - 1
        ends_ns = rows["start_ns"] + rows["duration_ns"]
        plain = (at >= 0) & rows["plain"][at] & (samples["start_ns"] < ends_ns[at])
        node, lasted = samples["node"][plain], samples["duration_ns"][plain]
        if lasted.sum() < _LEAST_NS:
            return none
        of_node = np.append(results.get(StackLines).cell_line, -1)
        line, group = np.unique(of_node[node], return_inverse=True)
        return cls(line, np.bincount(group, lasted).astype(np.int64), int(lasted.sum()))

    def most_share(self, results: Results, within: Intervals) -> float | None:
        """What the lines of that recorded time may take of a plain iteration, 0..1, two standard errors above what was
        sampled; None where it is not known."""
        stacks = results.context.stacks
        if not self.total_ns or not within.total_ns or stacks is None:
            return None
        places = results.get(LinePlaces)
        lines, group = np.unique(places.events["cell_line"], return_inverse=True)
        held = np.bincount(group, places.own_ns(within), len(lines))
        held[lines <= 0] = 0
        if held.sum() < _KNOWN * within.total_ns:
            return None
        order = np.argsort(-held, kind="stable")
        needed = int(np.searchsorted(np.cumsum(held[order]), _MOST_OF_IT * held.sum())) + 1
        share = self.ns[np.isin(self.line, lines[order[:needed]])].sum() / self.total_ns
        return float(min(share + _ERRORS * share_error(np.array([share]), self.total_ns, stacks)[0], 1.0))
