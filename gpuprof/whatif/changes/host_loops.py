"""A Python loop's work done by few operators on whole tensors."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.launched import launched_in
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.loops.grown_tensors import GrownTensors
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import (
    host_time_scaled,
    operations_gone,
    operations_lasting,
    operations_scaled,
    waits_dropped,
)
from gpuprof.whatif.predict import Range

# What a kernel takes however little it does.
LEAST_KERNEL_NS = 2_000
# of the host's time in a loop that only reads once, after it: what its own operators and Python may still take
_LEFT_OF_A_LOOP = 0.5


def turns_at_once(results: Results, turns: float, inside: Intervals) -> Range:
    """A loop of so many `turns` in the union `inside` (ns of the trace), with one turn's work of the host for all.

    On the device at worst as now; else all turns pay LEAST_KERNEL_NS once (`now − fixed · (1 − 1/turns)`), and at best
    all take as long as one turn now (`now / turns`).
    """
    rows = launched_in(results.trace, inside)
    now = results.trace.device_events["duration_ns"][rows]
    fixed = np.minimum(now, LEAST_KERNEL_NS)
    host = host_time_scaled(inside, 1 / turns)

    def at(durations: Array) -> GraphEdit:
        return together(host, operations_lasting(rows, np.rint(durations).astype(np.int64)))

    return Range(host, at(now - fixed * (1 - 1 / turns)), at(now / turns))


def loop_read_once(results: Results, turns: float, inside: Intervals, waits: Array) -> Range:
    """`turns_at_once` without these `waits` (rows of calls) but for the last of each run, an interval of `inside`.

    At worst the loop stays, with half of the host's time, as on small tensors of the CPU.
    """
    begun = results.trace.calls["start_ns"][waits]
    waits, begun = (each[intervals.contains(inside, begun)] for each in (waits, begun))
    run = np.searchsorted(inside.starts, begun, side="right")
    ordered = np.argsort(run, kind="stable")
    last = np.diff(run[ordered], append=-1) != 0
    gone, at_once = waits_dropped(waits[ordered[~last]]), turns_at_once(results, turns, inside)
    return Range(
        together(gone, host_time_scaled(inside, _LEFT_OF_A_LOOP)),
        together(gone, at_once.central),
        together(gone, at_once.optimistic),
    )


def accesses_at_once(results: Results, inside: Intervals, left: float) -> Range:
    """Accesses to single numbers in the union `inside` (ns of the trace) in `left` (0..1) of the host's time.

    What they launch goes as well at best, and is done as now at worst.
    """
    host = host_time_scaled(inside, left)
    gone = together(host, operations_gone(launched_in(results.trace, inside)))
    return Range(host, gone, gone)


def cats_scaled(results: Results, places: Array, factor: float) -> GraphEdit:
    """These cats (places in `GrownTensors.cats`) in `factor` times their time: on the device where they launched
    kernels, else on the host."""
    found = results.get(GrownTensors)
    on_host = found.during(places[~np.isin(places, found.kernels)])
    events = results.get(KernelOrigins).event[np.isin(found.kernels, places)]
    return together(host_time_scaled(on_host, factor), operations_scaled(events, factor))
