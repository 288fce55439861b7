"""Where every nanosecond of the run went: one partition that adds up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.compile_events import CompileEvents
from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.host_marks import autograd_threads, main_operators, outside_steps
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model import intervals
from gpuprof.model.intervals import EMPTY, Intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

DEVICE_CATEGORIES = (
    "compute",
    "exposed_copy",
    "exposed_collective",
    "memset",
    "idle_input",
    "idle_host",
    "idle_sync",
    "idle_launch",
    "idle_compile",
    "idle_outside_steps",
    "idle_unrecorded",
    "idle_unexplained",
)
HOST_CATEGORIES = ("operators", "input_wait", "compiling", "host_other", "outside_steps")


@dataclass(frozen=True)
class BudgetEntry:
    """One category of the budget: `ns` of the span, `share` of it (0..1)."""

    category: str
    ns: int
    share: float


@dataclass(frozen=True, eq=False)
class TimeBudget(Result):
    """The span of the trace, partitioned by wall clock.

    With device activity (`device` is the first device's id): compute, exposed_copy, exposed_collective, memset, and
    the idle time by cause (see DeviceIdle). Without (`device` is None): the main host thread's operators, input_wait,
    compiling (torch.compile at work), host_other, outside_steps; `detail` then splits operators into forward_ns
    (whatever is neither of the others), backward_ns and optimizer_ns. The backward pass on autograd's own threads, for
    which the main thread stands still, counts as its operators.

    `entries` name every category, those of 0 ns included, and add up to `total_ns` exactly; they are empty where the
    span is. `parts`: the unions behind them, disjoint.
    """

    device: int | None
    total_ns: int
    entries: tuple[BudgetEntry, ...]
    parts: Mapping[str, Intervals]
    detail: Mapping[str, int]

    def ns(self, category: str) -> int:
        """The time of a category in ns; 0 where this kind of budget has no such category."""
        return self.parts.get(category, EMPTY).total_ns

    def share(self, category: str) -> float:
        """The share of a category in the span, 0..1."""
        return self.ns(category) / self.total_ns if self.total_ns else 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device's activity and its idle time, or from the main host thread."""
        device = results.get(DeviceActivity).primary
        if device is None:
            parts, detail = _host_parts(trace, results)
        else:
            parts, detail = _device_parts(trace, device, results), {}
        total = trace.span_ns
        lengths = [(category, part.total_ns) for category, part in parts.items()] if total else []
        entries = tuple(BudgetEntry(category, ns, ns / total) for category, ns in lengths)
        return cls(None if device is None else device.id, total, entries, parts, detail)


def _device_parts(trace: Trace, device: DeviceTotals, results: Results) -> dict[str, Intervals]:
    events = trace.device_events
    every, here = intervals.of(events), events["device"] == device.id

    def where(rows: Array) -> Intervals:
        return Intervals(every.starts[rows & here], every.ends[rows & here])

    claims = [
        ("compute", device.compute),
        ("exposed_collective", where(events["collective"])),
        ("exposed_copy", where(events["kind"] == DeviceEventKind.COPY)),
        ("memset", where(events["kind"] == DeviceEventKind.MEMSET)),
    ]
    parts = intervals.partition(device.busy, claims)
    parts |= results.get(DeviceIdle).parts
    return {category: parts[category] for category in DEVICE_CATEGORIES}


def _host_parts(trace: Trace, results: Results) -> tuple[dict[str, Intervals], dict[str, int]]:
    at = results.get(Phases)
    whole = intervals.single(trace.span_start_ns, trace.span_end_ns)
    backward = intervals.joined(at.backward, autograd_threads(trace))
    claims = [
        ("outside_steps", outside_steps(trace)),
        ("compiling", results.get(CompileEvents).everywhere),
        ("input_wait", at.input),
        ("operators", intervals.joined(main_operators(trace), backward)),
    ]
    parts = intervals.partition(whole, claims)
    parts["host_other"] = parts.pop("")
    phases = intervals.partition(parts["operators"], [("backward_ns", backward), ("optimizer_ns", at.optimizer)])
    phases["forward_ns"] = phases.pop("")
    detail = {phase: phases[phase].total_ns for phase in ("forward_ns", "backward_ns", "optimizer_ns")}
    return {category: parts[category] for category in HOST_CATEGORIES}, detail
