"""The host reads values from the device, and the device runs dry each time.

What it finds
    Calls inside operators such as `.item()`, `.cpu()`, `nonzero`, a boolean mask or `if tensor:` that make the host
    wait until the device has finished, and idle time of the device that the host could have filled, had it not lost
    its lead in those waits. Waits in copies to the device are left to `pageable_h2d_copy`. On a run without a device,
    a `.item()` in every step is only mentioned: there it is nearly free.

Why it costs
    The host normally runs ahead of the device and keeps its queue filled. A wait empties that queue, and the device
    stands still until launches arrive again. The wait itself is not the loss, since the device works in it; the idle
    time after it is.

What to do
    Keep the value on the device and read it every hundred steps (`total += loss.detach()`, one `.item()` at the end),
    replace a boolean mask by `torch.where` or a multiplication, `nonzero` by a fixed size. All waits of a step have to
    go before the queue stays filled: the evidence says what is saved without the costliest one, without half, without
    all of them.

When to leave it
When the value decides what runs next, or when it is read rarely. With the device as the bottleneck a wait a step
costs little.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results, Table
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.loops.written_loops import sources_of
from gpuprof.analyses.training.anomaly_checks import AnomalyChecks
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.scalar_reads import ScalarReads
from gpuprof.analyses.transfers.sync_waits import SyncKind, SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.rules.saving.sync_waits import avoidable, followed_by_work, idle_after_waits
from gpuprof.rules.saving.waits_removed import with_curve
from gpuprof.whatif.changes.trace_changes import calls_gone

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
_READS = {"aten::item", "aten::_local_scalar_dense"}
_MANY_READS = " Keep indices and lengths as Python’s own numbers, not as tensors."
_CHECKS = " Distributions read their values to check them unless they are made with `validate_args=False`."


# the pace of launching makes none of that length
_LONG_PAUSE_NS = 10 * units.NS_PER_MS


@dataclass(frozen=True)
class SyncInStep(Rule):
    """See the module."""

    guard = Guard.EXACT

    idle_share: float = threshold(0.03, "of the step with the device idle because of such waits: that is the loss")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    read_steps_share: float = threshold(0.9, "of the steps read a value (runs without a device): a habit of the loop")
    steps: float = threshold(3, "fewer steps do not show a habit")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the waits; without a device, the reads."""
        activity, environment = results.get(DeviceActivity), results.context.environment
        if (environment is not None and environment.anomaly_mode) or results.get(AnomalyChecks).on:
            return None  # it reads a value for every gradient itself: debug_mode_on
        if activity.recorded is None:
            return self._without_device(results)
        waits = _user_waits(results)
        if activity.primary is None:
            if not len(waits):
                return None
            return without_device(self.name, results, "the device’s activity after the host’s waits")
        if not results.get(SyncWaits).calls_recorded:
            return Abstention(self.name, "the host’s runtime calls", "Record the CPU activity together with CUDA’s.")
        return self._on_device(results, waits)

    def _on_device(self, results: Results, waits: Table) -> Finding | None:
        scope = Scope.of(results)
        waits = followed_by_work(results, waits.take(scope.inside(waits["start_ns"])))
        idle, lost_ns = idle_after_waits(results, scope, waits)
        if scope.share(lost_ns) < self.idle_share:
            return None
        found = self._finding(results, scope, waits, idle, lost_ns)
        long = idle.ends - idle.starts >= _LONG_PAUSE_NS
        pauses = Intervals(idle.starts[long], idle.ends[long])
        rest_ns = lost_ns - pauses.total_ns
        if pauses.total_ns and found.saving is not None and 0 < found.saving.central_ns <= rest_ns:
            found = self._finding(results, scope, waits, intervals.subtract(idle, pauses), rest_ns, pauses.total_ns)
        return with_curve(results, found, waits)

    def _finding(
        self, results: Results, scope: Scope, waits: Table, idle: Intervals, lost_ns: float, pauses_ns: int = 0
    ) -> Finding:
        """`pauses_ns`: of long pauses after such waits, which the simulated run has without them as well."""
        share, blocked = scope.share(lost_ns), int(waits["duration_ns"].sum())
        stays = f"; {units.duration(pauses_ns)} in long pauses after them do not" if pauses_ns else ""
        names = Counter(_names(results, waits))
        number = names.total()
        common = ", ".join(f"{name} ({units.count(times)}×)" for name, times in names.most_common(3))
        repeats = results.get(Repeats)
        rate = number / repeats.count if repeats.count else None
        often = f" ({rate:.3g} {repeats.each})" if rate is not None else ""
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Reading from the device leaves it idle for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(number, 'wait')}{often} for the device took {units.duration(blocked)}, in "
                f"{common}. Each empties the device’s queue, and the host loses its lead: {units.duration(lost_ns)} of "
                f"idle time come from that{stays}."
            ),
            evidence={
                "waits": number,
                **({f"waits_per_{repeats.noun}": round(rate, 2)} if rate is not None else {}),
                "host_blocked_ms": units.milliseconds(blocked),
                "idle_ms": units.milliseconds(lost_ns),
                "idle_share": round(share, 4),
                **({"pauses_ms": units.milliseconds(pauses_ns)} if pauses_ns else {}),
                "operators": common,
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(intervals.of(waits)), ranges_ns=worst(idle)),
            during=idle,
            change=_change(names),
            diff=_diff(results, rate) if rate is not None and set(names) <= _READS else None,
            saving=scope.saving(
                0, lost_ns, lost_ns, "upper bound: none of these waits, so that the host keeps its lead"
            ),
        )
        return retimed(results, found, calls_gone(waits["call"]), "simulated without these waits")

    def _without_device(self, results: Results) -> Finding | None:
        reads, scope = results.get(ScalarReads), Scope.of(results)
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
            where=Where(lines=results.get(LinePlaces).cell_lines(ranges), ranges_ns=worst(ranges)),
            change="Before moving to a GPU: keep the value as a tensor (`total += loss.detach()`) and call `.item()` "
            f"once at the end, or every hundred steps.{_of_many(results) if (reads.per_step or 0) > 1 else ''}",
            diff=_diff(results, reads.per_step or 0.0) if _on_cpu(results) else None,
            leave_it="Leave it as long as there is no GPU, or when the value decides what runs next.",
        )


def _of_many(results: Results) -> str:
    """What else reads values, as far as the notebook may have it."""
    texts = [text for _, text in sources_of(results.context)]
    return _MANY_READS + (_CHECKS if not texts or any("distributions" in text for text in texts) else "")


def _user_waits(results: Results) -> Table:
    """Waits inside operators, but for copies to the device (`pageable_h2d_copy`) and avoidable ones."""
    waits, copies = results.get(SyncWaits).table, results.get(Copies).table
    copies = copies.take((copies["direction"] == CopyKind.H2D) | avoidable(results))
    to_device = np.isin(results.get(CopyWaits).copy_call, copies["call"][copies["call"] >= 0])
    return waits.take((waits["kind"] == SyncKind.IMPLICIT) & ~to_device)


def _names(results: Results, waits: Table) -> list[str]:
    """The operator of each wait; a blocking copy and the synchronise that belongs to it are one."""
    every = results.get(SyncWaits).table
    copies = results.get(CopyWaits).copy_call[np.isin(every["call"], waits["call"])]
    _, first = np.unique(np.where(copies >= 0, copies, -1 - waits["call"]), return_index=True)
    names = results.get(SyncWaits).names
    return [names[index] if index >= 0 else "a call outside operators" for index in waits["operator_name"][first]]


def _diff(results: Results, reads_per_step: float) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.reads import defer_reads

        return defer_reads(source, reads_per_step)

    return cell_diff(results, edit)


def _on_cpu(results: Results) -> bool:
    """Whether the optimizers' parameters lie in host memory: Apple's devices are not recorded, and lack float64."""
    devices = [optimizer.device for optimizer in results.context.optimizers]
    return bool(devices) and all(device == "cpu" for device in devices)


def _change(names: Counter[str]) -> str:
    advice = list(dict.fromkeys(_ADVICE[name] for name, _ in names.most_common(3) if name in _ADVICE))
    if not advice:
        return "Keep what these operators give on the device, and read it after the loop or every hundred steps."
    text = "; ".join(advice)
    return f"{text[0].upper()}{text[1:]}. All such waits have to go before the device’s queue stays filled."
