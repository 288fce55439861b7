"""What sampled stacks show within given stretches of time: a library's function or the user's own code, by line."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.accounts.called import called
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

OWN_CODE = "its own code"


def sampled_work(trace: Trace, lines: StackLines, within: Intervals) -> list[tuple[str, int | None, int]]:
    """`(what, line of the cell, ns)` by line, the longest first; empty where no stack was sampled.

    `within`: a union, in the trace's time. A sample counts for the time until the next one, as far as it lies there.
    """
    stacks, samples = trace.context.stacks, trace.stack_samples
    if stacks is None or not len(samples) or not len(within.starts):
        return []
    start = samples["start_ns"] + (trace.context.sampling.get("clock_offset_ns") or 0)
    spent = intervals.covered(within, start, start + samples["duration_ns"])
    rows = np.flatnonzero((spent > 0) & (samples["node"] >= 0))
    _, own = own_frames(trace, stacks)
    node, spent = samples["node"][rows].astype(np.int64), spent[rows]
    known = own[node] >= 0
    node, spent = node[known], spent[known]
    cell_line = lines.cell_line[node]
    found = []
    for line in np.unique(cell_line).tolist():
        mine = cell_line == line
        what, _ = called(trace, stacks, node[mine], spent[mine], own)
        found.append((what or OWN_CODE, line if line > 0 else None, int(spent[mine].sum())))
    return sorted(found, key=lambda each: -each[2])
