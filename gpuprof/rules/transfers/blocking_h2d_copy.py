"""The batch lies in pinned memory, yet the host waits for its copy.

What it finds
    Copies to the device from pinned host memory in which the host stands still until the copy has ended, with the
    device idle in that wait, or running dry after it. The time of the copy itself does not count: it stays (see
    `exposed_h2d_copy`).

Why it costs
    From pinned memory the device fetches the data itself, so the host could go on and launch the kernels that use
    them. `.to(device)` waits all the same, for all earlier work of the stream too, and the host loses its lead.

What to do
    `.to(device, non_blocking=True)`: work on the same stream still sees the data complete.

When to leave it
    When the host writes to the same memory again right after: it must not before the copy has ended. Copies *from* the
    device need a synchronise before the host reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results, Table
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.rules.base.abstentions import without_device, without_host_memory
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.rules.saving.sync_waits import avoidable, cost_of_standing
from gpuprof.whatif.changes.trace_changes import calls_gone


@dataclass(frozen=True)
class BlockingH2dCopy(Rule):
    """See the module."""

    guard = Guard.EXACT

    cost_share: float = threshold(0.03, "of the step with the device idle in such waits or drained after them")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the pinned copies that are waited for."""
        device, scope = results.get(DeviceActivity).primary, Scope.of(results)
        if device is None:
            return without_device(self.name, results, "the copies to the device")
        copies = results.get(Copies).table
        mine = (copies["direction"] == CopyKind.H2D) & ~avoidable(results) & scope.inside(copies["start_ns"])
        if (copies["host_memory"][mine] == HostMemory.UNKNOWN).any():
            return without_host_memory(self.name)
        waited = np.isin(copies["call"], results.get(CopyWaits).copy_call) & (copies["call"] >= 0)
        copies = copies.take(mine & waited & (copies["host_memory"] == HostMemory.PINNED))
        cost = intervals.intersect(cost_of_standing(results, copies, device.busy), scope.within)
        if scope.share(cost.total_ns) < self.cost_share:
            return None
        return self._finding(results, scope, copies, cost)

    def _finding(self, results: Results, scope: Scope, copies: Table, cost: Intervals) -> Finding:
        share, total = scope.share(cost.total_ns), int(np.maximum(copies["bytes"], 0).sum())
        waits = results.get(SyncWaits).table
        waits = waits.take(np.isin(results.get(CopyWaits).copy_call, copies["call"]))
        held, synchronise = int(waits["duration_ns"].sum()), waits["call"][~np.isin(waits["call"], copies["call"])]
        lines = results.get(LinePlaces).cell_lines(intervals.union(intervals.of(waits)))
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Waiting for copies from pinned memory leaves the device idle for {units.percent(share)} of "
            f"{scope.words}",
            explanation=(
                f"{units.plural(len(copies), 'copy', 'copies')} to the device, {units.size(total)} in all, came from "
                f"pinned memory, and the host waited {units.duration(held)} for them. The device was idle in those "
                f"waits, or ran dry after them, for {units.duration(cost.total_ns)}."
            ),
            evidence={
                "copies": len(copies),
                "bytes": total,
                "host_blocked_ms": units.milliseconds(held),
                "cost_ms": units.milliseconds(cost.total_ns),
                "cost_share": round(share, 4),
            },
            where=Where(lines=lines, ranges_ns=worst(cost)),
            during=cost,
            change="Use `.to(device, non_blocking=True)`: the memory is pinned already, so the host can go on while "
            "the device fetches it.",
            diff=_diff(results),
            saving=scope.saving(
                0, cost.total_ns, cost.total_ns, "upper bound: none of these waits, so that the host keeps its lead"
            ),
        )
        return retimed(results, finding, calls_gone(synchronise), "simulated without waiting for these copies")


def _diff(results: Results) -> str | None:
    """The copies of the batches of the one loader that pins its memory."""
    lines = [loader.line for loader in results.context.loaders if loader.pin_memory]
    line = lines[0] if len(lines) == 1 else None
    if line is None:
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.loaders import copy_without_blocking

        return copy_without_blocking(source, line)

    return cell_diff(results, edit)
