"""A tensor leaves the device for the host and comes back in the same step.

What it finds
    Steps in which the host waits for a copy from the device, and then copies exactly as many bytes back to it, with
    no batch loaded in between; tensors of at least 64 KiB.

Why it costs
    The device stands still from the end of its queue until the tensor is back: for both copies, for what the host does
    with it, and until launches arrive again.

What to do
    Do on the device what the host does with the tensor: torch has most of NumPy's functions under the same names. What
    only exists on the host can often be done once for all steps, or with the few values that are needed.

When to leave it
    When a library without a GPU version needs the tensor (then copy into pinned memory, and batch such calls).
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.repeats import Repeats
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.copy_round_trips import CopyRoundTrips
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import Scope, graded, worst


@dataclass(frozen=True)
class CopyRoundTrip(Rule):
    """See the module."""

    cost_share: float = threshold(0.03, "of the step in round trips with no compute: less is hardly measurable")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the pairs of copies."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the copies from and to the device")
        trips, scope = results.get(CopyRoundTrips), Scope.of(results)
        cost = intervals.intersect(trips.cost, scope.within)
        share = scope.share(cost.total_ns)
        if not trips.habit or share < self.cost_share:
            return None
        copies, number = results.get(Copies).table, len(trips.out)
        each = int(copies["bytes"][trips.out].sum()) // number
        copying = int(copies["duration_ns"][trips.out].sum() + copies["duration_ns"][trips.back].sum())
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Tensors go to the host and back, for {units.percent(share)} of {scope.words}",
            explanation=(
                f"In {trips.steps_with} of {units.plural(trips.steps, results.get(Repeats).noun)} a tensor leaves the "
                f"device and one of the same size comes back ({units.plural(number, 'time')}, {units.size(each)} on "
                "average). From the "
                f"begin of the one copy to the end of the other the device computed nothing for "
                f"{units.duration(cost.total_ns)}, {units.duration(copying)} of it copying."
            ),
            evidence={
                "round_trips": number,
                "bytes_each": each,
                "copy_ms": units.milliseconds(copying),
                "cost_ms": units.milliseconds(cost.total_ns),
                "cost_share": round(share, 4),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(cost), ranges_ns=worst(cost)),
            during=cost,
            change="Do on the device what happens to the tensor between `.cpu()` (or `.numpy()`) and `.to(device)`: "
            "torch has most of NumPy’s functions.",
            saving=scope.saving(0, cost.total_ns, cost.total_ns, "upper bound: the tensor stays on the device"),
        )
