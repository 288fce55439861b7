"""A tensor is filled on the host and copied to the device, where it could have been made.

What it finds
    `torch.rand(...)`, `zeros`, `ones`, `full` and their like on the host, followed at once by a `.to(device)` of a
    tensor of the same shape, in nearly every step. What a DataLoader does is left out.

Why it costs
    The host fills the tensor with one or a few cores, the copy takes the link, and the device waits for both. It fills
    memory a hundred times faster itself.

What to do
    Make it there: `torch.rand(..., device=device)`, `torch.zeros_like(x)` of a tensor that is there already.

When to leave it
    When random numbers have to be those of the host's generator.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.host_fills import HostFills
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.saving.scope import Scope, graded, worst


@dataclass(frozen=True)
class HostFilledThenCopied(Rule):
    """See the module."""

    guard = Guard.NUMERIC  # random numbers come from another generator

    cost_share: float = threshold(0.03, "of the step in it with no compute: less is hardly measurable")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the fillings that a copy follows."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the copies to the device")
        fills, scope = results.get(HostFills), Scope.of(results)
        unsure = intervals.intersect(fills.unsure_cost, scope.within)
        if len(fills.unsure) >= max(fills.steps, 1) and scope.share(unsure.total_ns) >= self.cost_share:
            return Abstention(
                self.name,
                "whether the tensors that the host fills are those that it copies next",
                "Record the shapes of inputs (`%%gpuprofile --shapes`).",
            )
        cost = intervals.intersect(fills.cost, scope.within)
        share = scope.share(cost.total_ns)
        if not fills.habit or share < self.cost_share:
            return None
        number = len(fills.copies)
        total = int(np.maximum(results.get(Copies).table["bytes"][fills.copies], 0).sum())
        name = Counter(fills.names).most_common(1)[0][0].removeprefix("aten::")
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"Tensors are filled on the host and then copied, for {units.percent(share)} of {scope.words}",
            explanation=(
                f"{units.plural(number, 'tensor')} ({units.size(total)} in all, mostly from `torch.{name}`) were "
                f"filled on the host and copied to the device right after. The device computed nothing for "
                f"{units.duration(cost.total_ns)} of that."
            ),
            evidence={
                "tensors": number,
                "bytes": total,
                "made_by": name,
                "cost_ms": units.milliseconds(cost.total_ns),
                "cost_share": round(share, 4),
            },
            where=Where(lines=results.get(LinePlaces).cell_lines(cost), ranges_ns=worst(cost)),
            during=cost,
            diff=_diff(results, name),
            change=f"Make them on the device: `torch.{name}(..., device=device)` instead of "
            f"`torch.{name}(...).to(device)`.",
            saving=scope.saving(
                0, cost.total_ns, cost.total_ns, "upper bound: neither filling nor copying on the host"
            ),
        )


def _diff(results: Results, name: str) -> str | None:
    def edit(source: str) -> str | None:
        from gpuprof.code_edits.data.host_work import make_on_device

        return make_on_device(source, name)

    return cell_diff(results, edit)
