"""What the optimizer's steps cost on the host and on the device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.closures import Closures
from gpuprof.analyses.basics.phases import matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.context import Optimizer
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_OF_SPARSE = ("aten::coalesce", "aten::_coalesce", "aten::_indices", "aten::_values", "aten::sparse_mask")
_STEP = re.compile(r"Optimizer\.step#(\w+)\.step")


@dataclass(frozen=True, eq=False)
class OptimizerUse:
    """All steps of the optimizers of one class (`name`, such as `Adam`), on the host's main thread.

    `start_ns`, `duration_ns`: each `Optimizer.step#` range, shape `(count,)`. `own`: the union of what of them is the
    optimizer's, without a closure that the step ran (see Closures) and without its `zero_grad`; `ns` its length, and
    all that follows is counted in it. `within_ns`: the steps' time, or the span's where no steps are known; `share` is
    the part of `ns` in it over it. `operators_per_step` counts the operators directly in such a range (median),
    `kernels_per_step` the kernels launched in it (median) and `device`: from the first to the end of the last of those
    launched in one piece of `own`; both None without device activity. `foreach_seen`, `fused_seen`: operators of that
    implementation ran, or the class is named so. `closure_untold`: a step ran a closure that cannot be told from the
    optimizer; the steps that did are not in `own`. `sparse_seen`: a gradient was sparse. `known`: what the live run
    knew of the optimizer; None elsewhere, and where several optimizers of that class were stepped.
    """

    name: str
    start_ns: Array
    duration_ns: Array
    own: Intervals
    ns: int
    within_ns: int
    share: float | None
    operators_per_step: float
    kernels_per_step: float | None
    device: Intervals | None
    foreach_seen: bool
    fused_seen: bool
    closure_untold: bool
    sparse_seen: bool
    known: Optimizer | None

    @property
    def count(self) -> int:
        """How many optimizer steps were recorded."""
        return len(self.start_ns)


@dataclass(frozen=True)
class OptimizerSteps(Result):
    """One entry per optimizer class, the costliest first; empty where no optimizer step was recorded."""

    uses: tuple[OptimizerUse, ...]

    @property
    def primary(self) -> OptimizerUse | None:
        """The costliest one."""
        return self.uses[0] if self.uses else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the `Optimizer.step#` ranges."""
        spans = trace.user_ranges
        chosen = spans.take(matching(trace, spans, _STEP) & (spans["thread"] == trace.main_thread))
        names = np.unique(chosen["name"])
        closures = results.get(Closures)
        uses = [_use(trace, trace.names[name], chosen.take(chosen["name"] == name), closures) for name in names]
        return cls(tuple(sorted(uses, key=lambda use: -use.ns)))


def _use(trace: Trace, span_name: str, ranges: Table, closures: Closures) -> OptimizerUse:
    found = _STEP.match(span_name)
    name = found[1] if found else span_name
    ranges = ranges.take(np.argsort(ranges["start_ns"], kind="stable"))
    steps = intervals.union(intervals.of(trace.steps))
    within = steps if len(steps.starts) else intervals.single(trace.span_start_ns, trace.span_end_ns)
    every = intervals.union(intervals.of(ranges))
    own = intervals.subtract(intervals.subtract(every, closures.ran), _zeroing(trace))
    covered = intervals.intersect(own, within).total_ns
    operators = _operators_in(trace, own)
    names = set(trace.names_of(operators))
    kernels, device = _kernels_of(trace, ranges, own)
    known = [each for each in trace.context.optimizers if each.name == name]
    return OptimizerUse(
        name=name,
        start_ns=ranges["start_ns"],
        duration_ns=ranges["duration_ns"],
        own=own,
        ns=own.total_ns,
        within_ns=within.total_ns,
        share=covered / within.total_ns if within.total_ns else None,
        operators_per_step=float(np.median(np.bincount(_range_of(operators, ranges), minlength=len(ranges)))),
        kernels_per_step=kernels,
        device=device,
        foreach_seen=any("_foreach_" in each for each in names),
        fused_seen="fused" in name.lower() or any("_fused_" in each for each in names),
        closure_untold=intervals.intersect(closures.untold, every).total_ns > 0,
        sparse_seen=_is_sparse(trace, own),
        known=known[0] if len(known) == 1 else None,
    )


def _zeroing(trace: Trace) -> Intervals:
    ranges = trace.user_ranges
    return intervals.union(intervals.of(ranges.take(trace.name_mask(ranges, "Optimizer.zero_grad#"))))


def _is_sparse(trace: Trace, own: Intervals) -> bool:
    operators = trace.operators
    starts = operators["start_ns"][np.isin(trace.names_of(operators), _OF_SPARSE)]
    return bool(intervals.contains(own, starts).any())


def _range_of(table: Table, ranges: Table) -> Array:
    return np.searchsorted(ranges["start_ns"], table["start_ns"], side="right") - 1


def _operators_in(trace: Trace, own: Intervals) -> Table:
    """Operators in these intervals that have no other operator around them."""
    operators = trace.operators
    inside = intervals.contains(own, operators["start_ns"])
    return operators.take(inside & (operators["parent"] < 0) & (operators["thread"] == trace.main_thread))


def _kernels_of(trace: Trace, ranges: Table, own: Intervals) -> tuple[float | None, Intervals | None]:
    events, calls = trace.device_events, trace.calls
    if not events:
        return None, None
    linked = events.take((events["call"] >= 0) & (events["kind"] == DeviceEventKind.KERNEL))
    launches = calls.take(linked["call"])
    inside = intervals.contains(own, launches["start_ns"])
    inside &= launches["thread"] == trace.main_thread
    if not inside.any():
        return 0.0, intervals.EMPTY
    piece = np.searchsorted(own.starts, launches["start_ns"][inside], side="right") - 1
    starts, ends = linked["start_ns"][inside], (linked["start_ns"] + linked["duration_ns"])[inside]
    first = np.full(len(own.starts), np.iinfo(np.int64).max)
    last = np.zeros(len(own.starts), np.int64)
    np.minimum.at(first, piece, starts)
    np.maximum.at(last, piece, ends)
    launched = last > 0
    counts = np.bincount(_range_of(launches, ranges)[inside], minlength=len(ranges))
    return float(np.median(counts)), Intervals(first[launched], last[launched])
