"""Batches are copied to the device from pageable host memory, and something waits for it.

What it finds
    Copies from the host to the device whose host memory is pageable, where either the copies run while the device
    computes nothing, or the host stands in the copying call and the device runs dry for it.

Why it costs
    The driver copies pageable memory through a small pinned buffer of its own, piece by piece: the copy reaches a
    fraction of the link's bandwidth, and the host may not go on before its data is staged. From pinned memory the
    device fetches the data itself, at full speed, while the host and the kernels go on.

What to do
    `pin_memory=True` for the DataLoader, and `.to(device, non_blocking=True)` for what it gives. Both are needed: one
    makes the copy fast, the other lets the host go on.

When to leave it
    When the loop waits for its data anyway (see `input_stall`): a faster copy then only waits longer. Do not write
    `x.pin_memory().to(device)` in the loop: pinning costs more than it saves. Pinned memory cannot be swapped out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Array, Results, Table
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_waits import CopyWaits
from gpuprof.analyses.transfers.pinned_bandwidth import pinned_bytes_per_s
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
from gpuprof.rules.saving.sync_waits import avoidable, cost_of_standing, joined
from gpuprof.whatif.changes.copies import USUAL_BYTES_PER_S, copied_from_pinned


@dataclass(frozen=True)
class PageableH2dCopy(Rule):
    """See the module."""

    guard = Guard.EXACT

    exposed_share: float = threshold(0.03, "of the step with pageable copies and no compute: less is hardly measurable")
    blocked_share: float = threshold(0.03, "of the step with the host in the copy and the device idle or drained after")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the copies to the device."""
        activity, scope = results.get(DeviceActivity), Scope.of(results)
        if activity.primary is None:
            return without_device(self.name, results, "the copies to the device")
        copies = results.get(Copies).table
        mine = (copies["direction"] == CopyKind.H2D) & ~avoidable(results)
        copies = copies.take(mine & scope.inside(copies["start_ns"]))
        pageable = copies.take(copies["host_memory"] == HostMemory.PAGEABLE)
        unknown = copies.take(copies["host_memory"] == HostMemory.UNKNOWN)
        if len(unknown) or results.source.platform == "rocm":
            return without_host_memory(self.name)
        exposed = intervals.subtract(intervals.union(intervals.of(pageable)), activity.primary.compute)
        blocked = cost_of_standing(results, pageable, activity.primary.compute)
        if scope.share(exposed.total_ns) < self.exposed_share and scope.share(blocked.total_ns) < self.blocked_share:
            return None
        cost = intervals.intersect(joined(exposed, blocked), scope.within)
        return self._finding(results, scope, pageable, exposed, blocked, cost)

    def _finding(
        self, results: Results, scope: Scope, copies: Table, exposed: Intervals, blocked: Intervals, cost: Intervals
    ) -> Finding:
        total_ns, total_bytes = int(copies["duration_ns"].sum()), int(np.maximum(copies["bytes"], 0).sum())
        bandwidth = total_bytes / total_ns * units.NS_PER_S if total_ns else None
        reference = pinned_bytes_per_s(results)
        faster = total_ns - total_bytes / reference * units.NS_PER_S if reference else 0.0
        share = scope.share(cost.total_ns)
        against = f", where {units.rate(reference)} is possible" if reference else ""
        speed = "" if bandwidth is None else f" at {units.rate(bandwidth)}{against}"
        found = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Copies from pageable memory hold up {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(len(copies), 'copy', 'copies')} to the device, {units.size(total_bytes)} in all, went "
                f"through pageable memory{speed}. The device computed nothing in "
                f"{units.duration(exposed.total_ns)} of them; the host stood in the copy, or the device ran dry after "
                f"it, for {units.duration(blocked.total_ns)}."
            ),
            evidence={
                "copies": len(copies),
                "bytes": total_bytes,
                "copy_ms": units.milliseconds(total_ns),
                "exposed_ms": units.milliseconds(exposed.total_ns),
                "host_blocked_ms": units.milliseconds(blocked.total_ns),
                "cost_share": round(share, 4),
                **({"bandwidth_gb_per_s": round(units.gigabytes(bandwidth), 3)} if bandwidth else {}),
                **({"possible_gb_per_s": round(units.gigabytes(reference), 3)} if reference else {}),
            },
            where=Where(lines=_lines(results, copies), ranges_ns=worst(cost)),
            during=cost,
            change=_change(results, total_bytes),
            diff=_diff(results),
            saving=scope.saving(
                min(faster, cost.total_ns), cost.total_ns, cost.total_ns, "upper bound: copies wholly hidden"
            ),
        )
        return retimed(results, found, copied_from_pinned(results, _issued(copies), reference), _basis(reference))


def _change(results: Results, pageable_bytes: int) -> str:
    pins = [loader.pin_memory for loader in results.context.loaders]
    if pins and all(pins):
        return (
            "The DataLoader pins already, so these tensors come from elsewhere: make them in pinned memory "
            "(`torch.empty(..., pin_memory=True)`) once and fill them, and copy with `non_blocking=True`."
        )
    copies = results.get(Copies).of_direction(CopyKind.H2D)
    pinned = np.maximum(copies["bytes"][copies["host_memory"] == HostMemory.PINNED], 0)
    if not pins and pinned.sum() > pageable_bytes:
        return (
            "Most of what this run copies is pinned already, so these are hardly its batches: make such tensors (index "
            "lists, sizes, masks) once and keep them on the device (`register_buffer`, `device=`); fill what has to "
            "come from the host into pinned memory and copy it with `non_blocking=True`."
        )
    return "Use `pin_memory=True` for the DataLoader and `.to(device, non_blocking=True)` for its batches."


def _basis(reference: float | None) -> str:
    speed = units.rate(reference or USUAL_BYTES_PER_S)
    return f"simulated with copies from pinned memory, at {speed}, that the host does not wait for"


def _diff(results: Results) -> str | None:
    """Pinned loaders and copies that do not block, if every unpinned loader is made and used in the cell."""
    unpinned = [loader for loader in results.context.loaders if not loader.pin_memory]
    lines = [loader.line for loader in unpinned if loader.line is not None]
    if not lines or len(lines) < len(unpinned):
        return None

    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.loaders import pin_batches

        return pin_batches(source, lines)

    return cell_diff(results, edit)


def _lines(results: Results, copies: Table) -> tuple[int, ...]:
    """Those that copy, where they are known; else those of the loaders that do not pin."""
    calls, mine = results.get(CopyWaits).calls, np.isin(results.get(Copies).table["call"], _issued(copies))
    copying = results.get(LinePlaces).cell_lines(Intervals(calls.starts[mine], calls.ends[mine]))
    loaders = results.context.loaders
    return copying or tuple(each.line for each in loaders if each.line and not each.pin_memory)


def _issued(copies: Table) -> Array:
    """The calls that issued these copies, where they are known."""
    return copies["call"][copies["call"] >= 0]
