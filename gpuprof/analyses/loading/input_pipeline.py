"""How long the run waited for its input: the DataLoader's `__next__`, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import launching
from gpuprof.analyses.basics.phases import INPUT
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_START_UP_FACTOR = 5
_CLOCK_SLACK_NS = 500_000  # a wait is noted just before its range begins, on the system's clock


# What a ready batch takes from a worker to the loop: about 2 ms on two cores (torch 2.13), while both compute.
HANDED_OVER_NS = 3_000_000


@dataclass(frozen=True, eq=False)
class InputPipeline(Result):
    """Waits for batches on the main host thread. All arrays have shape `(waits,)`, in time order.

    `start_ns`, `duration_ns`, `step`: each `__next__` (one within another counts once). `ended`: the call that only
    found the loader exhausted. `first`: the first batch of an iteration, where
    it took more than five times the median: workers starting. `outside`: waits that lie outside every step (another
    loop), where steps are known. `batch`: none of the three.

    The sums are over `batch` rows, without what gpuprof's own timing took of batches made on the waiting thread:
    `wait_ns` is the part inside the steps (inside the span where no steps are known), `wait_share` that over the steps'
    time (the span's), `median_ns` and `p95_ns` the whole waits (the latter with that timing), `work_ns` the median time
    from the end of one to the next wait. `first_ns` and `ended_ns` are kept apart. None where no wait was recorded.
    `in_process`: the batches are made on the waiting thread itself (`num_workers=0`), judged by the iterator's class
    that waited longest; None where it does not say. `device_idle_in_wait_ns`: the part of `wait_ns` in which the
    first device had nothing to do; None without device activity. `own_each_ns`: what that timing took of the median
    batch. `within_ns` is what `wait_share` divides by. `launched_in_waits`: something was launched to a device in the
    `batch` rows, on any thread.
    """

    start_ns: Array
    duration_ns: Array
    step: Array
    first: Array
    ended: Array
    outside: Array
    in_process: bool | None
    wait_ns: int | None
    wait_share: float | None
    within_ns: int
    first_ns: int | None
    ended_ns: int | None
    device_idle_in_wait_ns: int | None
    median_ns: float | None
    p95_ns: float | None
    work_ns: float | None
    own_each_ns: float
    loaders: tuple[Loader, ...]
    launched_in_waits: bool

    @property
    def batch(self) -> Array:
        """Boolean mask of shape `(waits,)`: ordinary waits for one batch."""
        return ~(self.first | self.ended | self.outside)

    @property
    def waits(self) -> Intervals:
        """When those were, by start; they do not overlap."""
        return Intervals(self.start_ns[self.batch], (self.start_ns + self.duration_ns)[self.batch])

    @property
    def handover_share(self) -> float | None:
        """Of the waits for batches of workers, 0..1: what handing over ready ones takes, HANDED_OVER_NS each at most.

        None where there are none, or this thread makes its batches itself.
        """
        waits = self.duration_ns[self.batch]
        if self.in_process is not False or not waits.sum():
            return None
        return float(np.minimum(waits, HANDED_OVER_NS).sum() / waits.sum())

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the `enumerate(DataLoader)#….__next__` ranges."""
        waits = _outermost(_waits(trace))
        ended = _ended(trace, waits)
        first = _started_up(waits, ended)
        within = _within(trace)
        outside = (intervals.covered(within, *_edges(waits)) == 0) & bool(len(trace.steps))
        ordinary = ~(first | ended | outside)
        batch = waits.take(ordinary)
        inside = intervals.intersect(intervals.of(batch), within)
        any_wait, any_batch = len(waits) > 0, len(batch) > 0
        in_process = _in_process(trace, waits)
        own_ns, own_each_ns = _own(trace, len(batch)) if in_process else (0, 0.0)
        wait_ns = max(inside.total_ns - own_ns, 0)
        idle_ns = _device_idle(inside, results)
        return cls(
            start_ns=waits["start_ns"],
            duration_ns=waits["duration_ns"],
            step=waits["step"],
            first=first,
            ended=ended,
            outside=outside,
            in_process=in_process,
            wait_ns=wait_ns if any_wait else None,
            wait_share=wait_ns / within.total_ns if any_wait and within.total_ns else None,
            within_ns=within.total_ns,
            first_ns=int(waits["duration_ns"][first].sum()) if any_wait else None,
            ended_ns=int(waits["duration_ns"][ended].sum()) if any_wait else None,
            device_idle_in_wait_ns=None if idle_ns is None or not any_wait else min(idle_ns, wait_ns),
            median_ns=_median(batch["duration_ns"], own_ns, own_each_ns) if any_batch else None,
            p95_ns=float(np.percentile(batch["duration_ns"], 95)) if any_batch else None,
            work_ns=_work(waits, ordinary),
            own_each_ns=own_each_ns,
            loaders=trace.context.loaders,
            launched_in_waits=bool(intervals.contains(intervals.union(intervals.of(batch)), _launches(trace)).any()),
        )


def _launches(trace: Trace) -> Array:
    return trace.calls["start_ns"][launching(trace.calls)]


def _waits(trace: Trace) -> Table:
    spans = trace.user_ranges
    on_main = spans["thread"] == trace.main_thread
    rows = np.flatnonzero(trace.name_mask(spans, INPUT) & on_main)
    return spans.take(rows[np.argsort(spans["start_ns"][rows], kind="stable")])


def _outermost(waits: Table) -> Table:
    if not waits:
        return waits
    ends = np.maximum.accumulate(waits["start_ns"] + waits["duration_ns"])
    return waits.take(np.concatenate(([True], waits["start_ns"][1:] >= ends[:-1])))


def _edges(waits: Table) -> tuple[Array, Array]:
    return waits["start_ns"], waits["start_ns"] + waits["duration_ns"]


def _ended(trace: Trace, waits: Table) -> Array:
    """The calls that only found the loader exhausted.

    A live run has noted which calls gave a batch. Otherwise: a batch leads to at least one operator, in the collating
    or in the use of it; an exhausted loader to none.
    """
    noted = np.sort(np.array([start for each in trace.context.loaders for start in each.wait_start_ns], np.int64))
    if len(noted):
        edges = np.searchsorted(noted, np.concatenate((waits["start_ns"], [np.iinfo(np.int64).max])) - _CLOCK_SLACK_NS)
        gave_none: Array = np.diff(edges) == 0
        return gave_none
    operators = trace.operators
    starts = np.sort(operators["start_ns"][operators["thread"] == trace.main_thread])
    edges = np.searchsorted(starts, np.concatenate((waits["start_ns"], [np.iinfo(np.int64).max])))
    nothing_done: Array = np.diff(edges) == 0
    if trace.steps_from == "DataLoader":
        nothing_done |= waits["step"] < 0
    return nothing_done


def _started_up(waits: Table, ended: Array) -> Array:
    durations = waits["duration_ns"]
    begins = np.concatenate(([True], ended[:-1]))[: len(waits)]
    candidates = begins & ~ended
    ordinary = durations[~candidates & ~ended]
    if not len(ordinary):
        return np.zeros(len(waits), bool)
    slow: Array = candidates & (durations > _START_UP_FACTOR * np.median(ordinary))
    return slow


def _work(waits: Table, batch: Array) -> float | None:
    between = waits["start_ns"][1:] - (waits["start_ns"] + waits["duration_ns"])[:-1]
    between = between[batch[:-1]] if len(waits) else between
    return float(np.median(between)) if len(between) else None


def _within(trace: Trace) -> intervals.Intervals:
    steps = intervals.union(intervals.of(trace.steps))
    return steps if len(steps.starts) else intervals.single(trace.span_start_ns, trace.span_end_ns)


def _in_process(trace: Trace, waits: Table) -> bool | None:
    single = int(waits["duration_ns"][trace.name_mask(waits, f"{INPUT}_SingleProcess")].sum())
    several = int(waits["duration_ns"][trace.name_mask(waits, f"{INPUT}_MultiProcessing")].sum())
    return single > several if single or several else None


def _own(trace: Trace, batches: int) -> tuple[int, float]:
    """What timing the making of these batches took, in all and of the median one."""
    timed = sum(each.batches for each in trace.context.loadings)
    own_ns = sum(each.own_ns for each in trace.context.loadings) * min(batches / timed, 1.0) if timed else 0.0
    return int(own_ns), own_ns / timed if 2 * timed > batches else 0.0


def _median(waits_ns: Array, own_ns: int, own_each_ns: float) -> float:
    """The median wait without that timing, which took no larger part of it than of all waits.

    Where others hold the cores a few timings last long, and their mean may exceed the median wait.
    """
    median, total = float(np.median(waits_ns)), float(waits_ns.sum())
    return max(median - min(own_each_ns, median * own_ns / total), 0.0) if total else median


def _device_idle(inside: intervals.Intervals, results: Results) -> int | None:
    device = results.get(DeviceActivity).primary
    return intervals.subtract(inside, device.busy).total_ns if device else None
