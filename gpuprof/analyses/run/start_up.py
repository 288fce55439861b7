"""How much of the recording is start-up: the first steps, the first call of each runtime function and kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# Longer than this no staging takes before the device begins to copy: the driver or a library starts up.
MOST_STAGING_NS = 5_000_000
# A launch that takes so many times the median launch also loads its kernel.
_LOADS_FACTOR = 10
# operators that copy, or wait for the device: their first call may be long for that
_COPYING = ("aten::to", "aten::_to_copy", "aten::copy_", "aten::item", "aten::_local_scalar_dense", "aten::nonzero")
_WAITS = (CallKind.SYNCHRONIZE, CallKind.COPY, CallKind.GRAPH)


@dataclass(frozen=True, eq=False)
class StartUp(Result):
    """`warm_up_steps`: steps at the beginning that took more than twice the median (StepTime), `warm_up_ns` their
    time, `warm_up_share` of all steps' time, 0..1; None without steps. `warm_up`: when
    they ran, within the trace's span.

    `first_calls`: the host inside the first call of each runtime function that neither waits for the device nor copies,
    and inside the first launch of each kernel, where the device did nothing: contexts, libraries and, since CUDA loads
    lazily, kernels are loaded there. So does the first call of an operator that took far longer than its later ones
    (cuDNN's first attention took 450 ms on an H100). `first_launches` is the
    number of the latter, those alone that took more than ten times the median launch. `first_calls_share` of the span;
    None where no runtime call was recorded. `longest_call`: the name of the longest of them.

    `before_copies`: the host inside a copying call for more than 5 ms while the device did nothing, before the copy
    began: the first copy of a run waits for the driver so.
    """

    warm_up_steps: int
    warm_up_ns: int
    warm_up_share: float | None
    warm_up: Intervals
    first_calls: Intervals
    first_calls_share: float | None
    longest_call: str | None
    first_launches: int
    before_copies: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the durations of steps and of runtime calls."""
        steps = results.get(StepTime)
        cold = trace.steps.take(~steps.steady)
        spent, total = int(cold["duration_ns"].sum()), int(steps.durations_ns.sum())
        calls = trace.calls
        functions, kernels = _first_of_each(trace), _loading_launches(trace)
        first = calls.take(np.union1d(functions, kernels))
        device = results.get(DeviceActivity).primary
        loading = intervals.union(intervals.of(first))
        if device is not None:
            operators = intervals.of(trace.operators.take(_loading_operators(trace)))
            loading = intervals.joined(loading, operators)
            loading = intervals.subtract(loading, device.busy)
        longest = int(first["name"][np.argmax(first["duration_ns"])]) if len(first) else None
        return cls(
            warm_up_steps=len(cold),
            warm_up_ns=spent,
            warm_up_share=spent / total if total else None,
            warm_up=intervals.clip(intervals.union(intervals.of(cold)), trace.span_start_ns, trace.span_end_ns),
            first_calls=loading,
            first_calls_share=loading.total_ns / trace.span_ns if len(calls) and trace.span_ns else None,
            longest_call=None if longest is None else trace.names[longest],
            first_launches=len(kernels),
            before_copies=_before_copies(trace),
        )


def _first_of_each(trace: Trace) -> Array:
    """Rows of calls: the first of each function that neither waits for the device nor copies."""
    rows = np.flatnonzero(~np.isin(trace.calls["kind"], _WAITS))
    return rows[np.unique(trace.calls["name"][rows], return_index=True)[1]]


def _loading_launches(trace: Trace) -> Array:
    """Rows of calls: the first launch of each kernel, where it took far longer than launches do."""
    calls, events = trace.calls, trace.device_events
    linked = events.take((events["kind"] == DeviceEventKind.KERNEL) & (events["call"] >= 0))
    linked = linked.take(np.argsort(calls["start_ns"][linked["call"]], kind="stable"))
    rows = np.unique(linked["call"][np.unique(linked["name"], return_index=True)[1]])
    launching = calls["kind"] == CallKind.KERNEL
    if not launching.any():
        return np.zeros(0, np.int64)
    usual = float(np.median(calls["duration_ns"][launching]))
    first: Array = rows[launching[rows] & (calls["duration_ns"][rows] > _LOADS_FACTOR * usual)]
    return first


def _loading_operators(trace: Trace) -> Array:
    """Rows of operators of the main thread: the first of each name, where it took far longer than the later ones."""
    operators = trace.operators
    rows = np.flatnonzero((operators["thread"] == trace.main_thread) & ~np.isin(trace.names_of(operators), _COPYING))
    rows = rows[np.lexsort((operators["start_ns"][rows], operators["name"][rows]))]
    begins = np.unique(operators["name"][rows], return_index=True)[1]
    found = []
    for mine in np.split(rows, begins[1:]):
        took = operators["duration_ns"][mine]
        if len(took) > 1 and took[0] > MOST_STAGING_NS and took[0] > _LOADS_FACTOR * np.median(took[1:]):
            found.append(mine[0])
    return np.array(found, np.int64)


def _before_copies(trace: Trace) -> Intervals:
    events = trace.device_events
    starts, ends = events["start_ns"], events["start_ns"] + events["duration_ns"]
    idle_from = np.zeros(len(events), np.int64)
    for device in trace.device_ids:
        mine = np.flatnonzero(events["device"] == device)
        mine = mine[np.argsort(starts[mine], kind="stable")]
        idle_from[mine[1:]] = np.maximum.accumulate(ends[mine])[:-1]
    rows = np.flatnonzero((events["kind"] == DeviceEventKind.COPY) & (events["call"] >= 0))
    begin = np.maximum(trace.calls["start_ns"][events["call"][rows]], idle_from[rows])
    late = starts[rows] - begin > MOST_STAGING_NS
    return intervals.union(Intervals(begin[late], starts[rows[late]]))
