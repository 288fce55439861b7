"""What the rules about Python loops over slices share."""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.batch_sizes import BatchSizes
from gpuprof.analyses.loops.python_loops import Loop, Repetition
from gpuprof.analyses.loops.slice_walks import Walk
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.rules.cell.source_loops import independent_lines
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import host_time_scaled, operations_lasting
from gpuprof.whatif.predict import Range

AT_ONCE = "re-timed with the host's work of one turn for all"
# What a kernel takes however little it does.
_LEAST_KERNEL_NS = 2_000
_MOST_NAMES = 5


def batch_sizes(results: Results, loop: Loop) -> Set[int]:
    """How many samples a loop over the batch has turns for: the batch sizes of the loaders.

    Without any those that a loss is computed of, if the text of the cell shows that no turn needs another: a loss over
    the steps of one sequence has as many. Empty where neither is known, or where samples and steps look the same.
    """
    known, cell = results.get(BatchSizes), results.trace.context.cell
    if known.of_loaders or cell is None or not any(is_over_batch(run, known.of_losses) for run in loop.runs):
        return known.of_loaders
    if any(_may_be_time(walk, known) for run in loop.runs for walk in run.walks or ()):
        return known.of_loaders
    return known.of_losses if independent_lines(cell.source, loop.names) else known.of_loaders


def _may_be_time(walk: Walk, known: BatchSizes) -> bool:
    """Whether both first dimensions of three reach the loss: either may be the batch."""
    return len(walk.rest) == 2 and any(shape[:2] == (walk.size, walk.rest[0]) for shape in known.compared)


def is_over_batch(run: Repetition, sizes: Set[int]) -> bool:
    """The first or last turn may look different. What walks along another dimension, too, is no loop over samples."""
    walks = run.walks or ()
    return all(walk.dimension == 0 for walk in walks) and any(
        walk.size in sizes and walk.size not in walk.rest and 0 <= walk.size - run.turns <= 1 for walk in walks
    )


def is_hidden(results: Results, inside: Intervals, busy_share: float) -> bool:
    """Whether a device is busy for that share of the union `inside`: it is not held up."""
    device = results.get(DeviceActivity).primary
    return device is not None and intervals.intersect(device.busy, inside).total_ns >= busy_share * inside.total_ns


def named_operators(loop: Loop) -> str:
    """The first few of a turn, in words."""
    names = ", ".join(dict.fromkeys(loop.names[:_MOST_NAMES]))
    return f"{names}, …" if len(loop.names) > _MOST_NAMES else names


def turns_at_once(results: Results, turns: float, inside: Intervals) -> Range:
    """One turn's work of the host for all. On the device at worst as now; else all turns pay _LEAST_KERNEL_NS once,
    and at best all take as long as one turn now."""
    events, calls = results.trace.device_events, results.trace.calls
    launched = np.flatnonzero(events["call"] >= 0)
    rows = launched[intervals.contains(inside, calls["start_ns"][events["call"][launched]])]
    now = events["duration_ns"][rows]
    fixed = np.minimum(now, _LEAST_KERNEL_NS)
    host = host_time_scaled(inside, 1 / turns)

    def at(durations: Array) -> GraphEdit:
        return together(host, operations_lasting(rows, np.rint(durations).astype(np.int64)))

    return Range(host, at(now - fixed * (1 - 1 / turns)), at(now / turns))
