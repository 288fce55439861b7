"""Launches: what they cost the host, how far ahead it was, and whether the links can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

CLOCK_TOLERANCE_NS = 10_000


@dataclass(frozen=True)
class Launches(Result):
    """Figures of all kernel launches (graph launches included); None where nothing tells.

    `launches`: calls that launch kernels, `graph_launches` those of them that launch CUDA graphs; `with_kernel`: those
    with at least one device event; `launches_with_kernel_share` the part of `launches` that these are, 0..1, None
    without launches or without any device event.
    `overhead_median_ns`: median host duration of a launch; `interval_median_ns` from the begin of one to the next on
    the same thread. `queue_depth_median`: median number of device events that
    were launched but not finished when a launch began (0: the device had nothing left to do). `median_kernel_ns`: of
    all kernels that are not collectives. `kernels_before_launch`: device events that begin more than CLOCK_TOLERANCE_NS
    before their launch; `clock_ok` is whether there are none, None where no event has a launch.
    """

    launches: int
    graph_launches: int
    with_kernel: int
    launches_with_kernel_share: float | None
    overhead_median_ns: int | None
    interval_median_ns: int | None
    queue_depth_median: float | None
    median_kernel_ns: int | None
    kernels_before_launch: int
    clock_ok: bool | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the calls and the device events linked to them."""
        calls, events = trace.calls, trace.device_events
        launching = (calls["kind"] == CallKind.KERNEL) | (calls["kind"] == CallKind.GRAPH)
        linked = events.take(events["call"] >= 0)
        begun = np.zeros(len(calls), bool)
        begun[linked["call"]] = True
        launches, with_kernel = int(launching.sum()), int((launching & begun).sum())
        early = int((linked["start_ns"] < calls["start_ns"][linked["call"]] - CLOCK_TOLERANCE_NS).sum())
        kernels = (events["kind"] == DeviceEventKind.KERNEL) & ~events["collective"]
        return cls(
            launches=launches,
            graph_launches=int((calls["kind"] == CallKind.GRAPH).sum()),
            with_kernel=with_kernel,
            launches_with_kernel_share=with_kernel / launches if launches and len(events) else None,
            overhead_median_ns=_median(calls["duration_ns"][launching]),
            interval_median_ns=_median(_intervals(calls.take(launching))),
            queue_depth_median=_queue_depth(calls, linked),
            median_kernel_ns=_median(events["duration_ns"][kernels]),
            kernels_before_launch=early,
            clock_ok=early == 0 if len(linked) else None,
        )


def _median(values: Array) -> int | None:
    return int(np.median(values)) if len(values) else None


def _intervals(launches: Table) -> Array:
    order = np.lexsort((launches["start_ns"], launches["thread"]))
    thread, start = launches["thread"][order], launches["start_ns"][order]
    pause: Array = np.diff(start)[np.diff(thread) == 0]
    return pause


def _queue_depth(calls: Table, linked: Table) -> float | None:
    depths = []
    for device in np.unique(linked["device"]):
        here = linked.take(linked["device"] == device)
        launched = np.sort(calls["start_ns"][here["call"]])
        ended = np.sort(here["start_ns"] + here["duration_ns"])
        own = here["call"][here["kind"] == DeviceEventKind.KERNEL]
        at = calls["start_ns"][np.unique(own)]
        unfinished = np.searchsorted(launched, at, side="left") - np.searchsorted(ended, at, side="right")
        depths.append(np.maximum(unfinished, 0))
    every = np.concatenate(depths) if depths else np.empty(0)
    return float(np.median(every)) if len(every) else None
