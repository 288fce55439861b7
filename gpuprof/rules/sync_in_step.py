"""The host reads values from the device, and the device runs dry each time.

What it finds
    Calls inside operators such as `.item()`, `.cpu()`, `nonzero`, a boolean mask or `if tensor:` that make the host
    wait until the device has finished, after which the device has nothing to do until the host has launched anew. On a
    run without a device, a `.item()` in every step is only mentioned: there it is nearly free.

Why it costs
    The host normally runs ahead of the device and keeps its queue filled. A wait empties that queue: the device stands
    still from the end of its work until the next launch arrives. The wait itself is not the loss, since the device
    works in it; the idle time after it is.

What to do
    Keep the value on the device and read it every hundred steps (`total += loss.detach()`, one `.item()` at the end),
    replace a boolean mask by `torch.where` or a multiplication, `nonzero` by a fixed size. All waits of a step have to
    go before the queue stays filled.

When to leave it
    When the value decides what runs next, or the reads are already rare. With the device as the bottleneck a wait a
    step costs little.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.copies import Copies
from gpuprof.analyses.copy_waits import CopyWaits
from gpuprof.analyses.device_activity import DeviceActivity, DeviceUse
from gpuprof.analyses.item_reads import ItemReads
from gpuprof.analyses.phases import Phases
from gpuprof.analyses.result import Results
from gpuprof.analyses.sync_waits import SyncKind, SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.model.table import Table
from gpuprof.rules.absence import without_device
from gpuprof.rules.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.rule import Rule, threshold
from gpuprof.rules.scope import Scope, graded, worst

_ADVICE = {
    "aten::item": "keep the value on the device (`total += loss.detach()`) and read it every hundred steps",
    "aten::_local_scalar_dense": "keep the value on the device and read it every hundred steps",
    "aten::is_nonzero": "decide without reading the value (`torch.where`), or decide rarely",
    "aten::nonzero": "use a fixed size or `torch.where` instead of `nonzero`",
    "aten::index": "replace boolean masks by `torch.where` or a multiplication",
    "aten::index_put_": "replace assignment through a boolean mask by `torch.where`",
    "aten::masked_select": "replace `masked_select` by `torch.where`",
    "aten::to": "copy what is needed once, after the loop, or into pinned memory with `non_blocking=True`",
    "aten::copy_": "copy what is needed once, after the loop, or into pinned memory with `non_blocking=True`",
}
_LEAVE_IT = "Leave it when the value decides what runs next, or when it is read rarely."


@dataclass(frozen=True)
class SyncInStep(Rule):
    """See the module."""

    drained_share: float = threshold(0.03, "of the step with the device idle after such waits: that is what is lost")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    read_steps_share: float = threshold(0.9, "of the steps read a value (runs without a device): a habit of the loop")
    steps: float = threshold(3, "fewer steps do not show a habit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the waits; without a device, the reads."""
        activity = results.get(DeviceActivity)
        if activity.recorded is None:
            return self._without_device(results)
        waits = _user_waits(results)
        if activity.primary is None:
            if not len(waits):
                return None
            return without_device(self.name, results, "the device’s activity after the host’s waits")
        if not len(results.trace.calls):
            return Abstention(self.name, "the host’s runtime calls", "Record the CPU activity together with CUDA’s.")
        return self._on_device(results, waits, activity.primary)

    def _on_device(self, results: Results, waits: Table, device: DeviceUse) -> Finding | None:
        scope = Scope.of(results)
        waits = waits.take(scope.inside(waits["start_ns"]))
        ends = waits["start_ns"] + waits["duration_ns"]
        after = intervals.union(Intervals(ends, ends + waits["idle_after_ns"]))
        drained = intervals.subtract(intervals.subtract(after, device.busy), results.get(Phases).input)
        share = scope.share(drained.total_ns)
        if share < self.drained_share:
            return None
        names = Counter(_name(results, waits))
        common = ", ".join(f"{name} ({units.count(number)}×)" for name, number in names.most_common(3))
        blocked = int(waits["duration_ns"].sum())
        rate = len(waits) / scope.steps if scope.steps else None
        often = f" ({rate:.3g} a step)" if rate is not None else ""
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Reading from the device leaves it idle for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(len(waits), 'wait')}{often} for the device took {units.duration(blocked)}, in "
                f"{common}. Each empties the device’s queue: it was then idle for {units.duration(drained.total_ns)} "
                "altogether before new work arrived."
            ),
            evidence={
                "waits": len(waits),
                **({"waits_per_step": round(rate, 2)} if rate is not None else {}),
                "host_blocked_ms": units.milliseconds(blocked),
                "idle_after_ms": units.milliseconds(drained.total_ns),
                "idle_after_share": round(share, 4),
                "operators": common,
            },
            where=Where(ranges_ns=worst(drained)),
            change=_change(names),
            saving=scope.saving(
                0, drained.total_ns, drained.total_ns, "upper bound: the device is never idle after a wait"
            ),
            leave_it=_LEAVE_IT,
        )

    def _without_device(self, results: Results) -> Finding | None:
        reads, scope = results.get(ItemReads), Scope.of(results)
        if scope.steps < self.steps or (reads.steps_with or 0) < self.read_steps_share * scope.steps:
            return None
        inside = scope.inside(reads.start_ns)
        spent = int(reads.duration_ns[inside].sum())
        ranges = Intervals(reads.start_ns[inside], (reads.start_ns + reads.duration_ns)[inside])
        return Finding(
            rule=self.name,
            severity=Severity.LOW,
            title="Every step reads a value to Python, which would hold up a GPU",
            explanation=(
                f"{units.plural(int(inside.sum()), 'read')} (`.item()`, `float(t)`, `if t:`) in "
                f"{units.plural(scope.steps, 'step')} cost {units.duration(spent)} here, without a device. On a GPU "
                "each of them makes the host wait until the device has finished, and leaves the device idle after it."
            ),
            evidence={
                "reads": int(inside.sum()),
                "reads_per_step": round(reads.per_step or 0.0, 2),
                "host_us": spent / units.NS_PER_US,
            },
            where=Where(ranges_ns=worst(ranges)),
            change="Before moving to a GPU: keep the value as a tensor (`total += loss.detach()`) and call `.item()` "
            "once at the end, or every hundred steps.",
            leave_it="Leave it as long as there is no GPU, or when the value decides what runs next.",
        )


def _user_waits(results: Results) -> Table:
    """Waits inside operators, but for copies to the device: those are `pageable_h2d_copy`."""
    waits = results.get(SyncWaits).table
    copies = results.get(Copies).of_direction(CopyKind.H2D)
    to_device = np.isin(results.get(CopyWaits).copy_call, copies["call"][copies["call"] >= 0])
    return waits.take((waits["kind"] == SyncKind.IMPLICIT) & ~to_device)


def _name(results: Results, waits: Table) -> list[str]:
    names = results.trace.names
    return [names[index] if index >= 0 else "a call outside operators" for index in waits["operator_name"]]


def _change(names: Counter[str]) -> str:
    advice = list(dict.fromkeys(_ADVICE[name] for name, _ in names.most_common(3) if name in _ADVICE))
    if not advice:
        return "Keep what these operators give on the device, and read it after the loop or every hundred steps."
    text = "; ".join(advice)
    return f"{text[0].upper()}{text[1:]}. All such waits have to go before the device’s queue stays filled."
