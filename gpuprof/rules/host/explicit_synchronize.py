"""The cell itself waits for the device in every step, and the device runs dry each time.

What it finds
    `torch.cuda.synchronize()`, `stream.synchronize()` and `event.synchronize()`: waits that stand outside every
    operator, with idle time of the device that the host could have filled, had it not lost its lead in them.

Why it costs
    The host normally runs ahead of the device and keeps its queue filled. A synchronise empties that queue, and the
    device stands still until launches arrive again.

What to do
    To measure time, record events (`torch.cuda.Event(enable_timing=True)`) and read them once at the end, or
    synchronise only in the steps that are logged. Nothing else needs it: torch waits by itself where a value is read.

When to leave it
    When another library or process shares the memory and has to see it finished, or while a fault is being looked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results, Table
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.sync_waits import SyncKind, SyncWaits
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.rules.saving.sync_waits import idle_after_waits
from gpuprof.rules.saving.waits_removed import with_curve
from gpuprof.whatif.changes.trace_changes import calls_gone

# MTIA's, whose executors wait for each request
_OTHER_RUNTIMES = ("synchronize",)


@dataclass(frozen=True)
class ExplicitSynchronize(Rule):
    """See the module."""

    guard = Guard.EXACT

    idle_share: float = threshold(0.03, "of the step with the device idle because of such waits: that is the loss")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    waits: float = threshold(2, "one alone ends or begins a measurement")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the waits outside operators."""
        activity, scope = results.get(DeviceActivity), Scope.of(results)
        waits = results.get(SyncWaits).table
        waits = waits.take((waits["kind"] == SyncKind.EXPLICIT) & scope.inside(waits["start_ns"]) & _by_hand(results))
        if activity.primary is None:
            return without_device(self.name, results, "the device’s activity after the host’s waits")
        if len(waits) < max(self.waits, 1):
            return None
        idle, lost_ns = idle_after_waits(results, scope, waits)
        if scope.share(lost_ns) < self.idle_share:
            return None
        waiting = intervals.union(intervals.of(waits))
        found = Finding(
            rule=self.name,
            severity=graded(scope.share(lost_ns), self.high_share),
            title=f"Synchronising by hand leaves the device idle for {units.percent(scope.share(lost_ns))} of "
            f"{scope.words}",
            explanation=_explanation(results, scope, waits, lost_ns),
            evidence={
                "waits": len(waits),
                **({"waits_per_step": round(len(waits) / scope.steps, 2)} if scope.steps else {}),
                "host_blocked_ms": units.milliseconds(int(waits["duration_ns"].sum())),
                "idle_ms": units.milliseconds(lost_ns),
                "idle_share": round(scope.share(lost_ns), 4),
            },
            where=Where(
                lines=results.get(LinePlaces).cell_lines(waiting) or lines_calling(results, "synchronize"),
                ranges_ns=worst(idle),
            ),
            change="Take the synchronise out of the loop: measure with `torch.cuda.Event(enable_timing=True)` and read "
            "the events at the end, or synchronise only in the steps that are logged.",
            diff=_diff(results),
            saving=scope.saving(
                0, lost_ns, lost_ns, "upper bound: none of these waits, so that the host keeps its lead"
            ),
        )
        found = retimed(results, found, calls_gone(waits["call"]), "simulated without these waits")
        return with_curve(results, found, waits)


def _by_hand(results: Results) -> Array:
    """Boolean mask of the waits that torch's own functions end in: of others it is not known who asked for them."""
    waits = results.get(SyncWaits)
    wanted = np.array([not name.startswith(_OTHER_RUNTIMES) for name in waits.names], bool)
    return wanted[waits.table["name"]] if len(waits.table) else np.zeros(0, bool)


def _explanation(results: Results, scope: Scope, waits: Table, lost_ns: float) -> str:
    names = Counter(results.get(SyncWaits).names[index] for index in waits["name"].tolist())
    common = ", ".join(f"{name} ({units.count(times)}×)" for name, times in names.most_common(2))
    rate = f" ({len(waits) / scope.steps:.3g} a step)" if scope.steps else ""
    return (
        f"{units.plural(len(waits), 'wait')}{rate} outside every operator took "
        f"{units.duration(int(waits['duration_ns'].sum()))}, in {common}. Each empties the device’s queue, and the "
        f"host loses its lead: {units.duration(lost_ns)} of idle time come from that."
    )


def _diff(results: Results) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.loops.dropped_calls import drop_synchronising

        return drop_synchronising(source)

    return cell_diff(results, edit)
