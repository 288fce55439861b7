"""The copy of a batch is as good as it gets, but nothing runs beside it.

What it finds
    Copies to the device from pinned memory that the host does not wait for, which still run while the device computes
    nothing: on the same stream as the kernels that need them.

Why it costs
    The device can copy and compute at the same time, with separate engines. On one stream it does one after the other.

What to do
    Copy the next batch on a stream of its own while this one computes, and let the computing stream wait for it.

When to leave it
When the device's memory does not hold two batches, when there is nothing to compute meanwhile (the first batch), or
when the loop waits for its data anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results, Table
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.rules.base.abstentions import without_device, without_host_memory
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.prefetch import copies_prefetched

_BASIS = "simulated with each batch copied on a stream of its own while the one before it computes"
_ASSUMED = "the next batch is taken to be there a step earlier, and the kernels not to be slowed by a copy beside them"


@dataclass(frozen=True)
class ExposedH2dCopy(Rule):
    """See the module."""

    exposed_share: float = threshold(0.05, "of the step with such copies and no compute: prefetching is some work")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    stall_share: float = threshold(0.05, "of the step waiting for data: from there on the copy is not the bottleneck")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the pinned copies that nobody waits for."""
        device, scope = results.get(DeviceActivity).primary, Scope.of(results)
        if device is None:
            return without_device(self.name, results, "the copies to the device")
        copies = results.get(Copies).table
        mine = (copies["direction"] == CopyKind.H2D) & scope.inside(copies["start_ns"])
        if (copies["host_memory"][mine] == HostMemory.UNKNOWN).any():
            return without_host_memory(self.name)
        waited = np.isin(copies["call"], results.get(CopyWaits).copy_call) & (copies["call"] >= 0)
        copies = copies.take(mine & ~waited & (copies["host_memory"] == HostMemory.PINNED))
        copying = intervals.intersect(intervals.union(intervals.of(copies)), scope.within)
        exposed = intervals.subtract(copying, device.compute)
        compute_ns = intervals.intersect(device.compute, scope.within).total_ns
        hideable = min(exposed.total_ns, compute_ns - (copying.total_ns - exposed.total_ns))
        if scope.share(hideable) < self.exposed_share:
            return None
        if scope.share(results.get(InputPipeline).device_idle_in_wait_ns or 0) >= self.stall_share:
            return None
        issued = _issued_alike(results, copies, device.id)
        lines = results.get(LaunchPlaces).lines(issued["event"])
        found = self._finding(scope, copies, exposed, hideable, lines)
        return retimed(
            results,
            found,
            copies_prefetched(issued["event"], issued["step"].astype(np.int64), device.id),
            _BASIS,
            assumed=_ASSUMED,
        )

    def _finding(
        self, scope: Scope, copies: Table, exposed: Intervals, hideable_ns: int, lines: tuple[int, ...]
    ) -> Finding:
        share, total = scope.share(exposed.total_ns), int(np.maximum(copies["bytes"], 0).sum())
        spent = int(copies["duration_ns"].sum())
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Copies that could run beside the kernels take {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(len(copies), 'copy', 'copies')} to the device, {units.size(total)} in all, took "
                f"{units.duration(spent)} from pinned memory without holding up the host. The device computed nothing "
                f"in {units.duration(exposed.total_ns)} of it."
            ),
            evidence={
                "copies": len(copies),
                "bytes": total,
                "copy_ms": units.milliseconds(spent),
                "exposed_ms": units.milliseconds(exposed.total_ns),
                "exposed_share": round(share, 4),
            },
            where=Where(lines=lines, ranges_ns=worst(exposed)),
            during=exposed,
            change="Copy the next batch while this one computes: on `side = torch.cuda.Stream()` inside "
            "`with torch.cuda.stream(side):`, with `non_blocking=True`; before using it "
            "`torch.cuda.current_stream().wait_stream(side)` and `batch.record_stream(torch.cuda.current_stream())`.",
            saving=scope.saving(0, hideable_ns, hideable_ns, "upper bound: these copies wholly hidden under compute"),
        )


def _issued_alike(results: Results, copies: Table, device: int) -> Table:
    """All copies of the device that the calls of these issued, in the order of device events."""
    every = results.get(Copies).table
    mine = np.isin(every["call"], copies["call"][copies["call"] >= 0]) & (every["device"] == device)
    rows = np.flatnonzero(mine)
    return every.take(rows[np.argsort(every["event"][rows])])
