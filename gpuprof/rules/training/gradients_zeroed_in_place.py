"""Gradients are filled with zeros instead of being dropped.

What it finds
    An optimizer whose `zero_grad` writes zeros into every gradient, and a backward pass that adds to them, which
    together take at least 0.5 % of the time.

Why it costs
    Each gradient is written once with zeros and then read, added to and written again, by two operators (on a GPU: two
    kernels) for every parameter. With no gradient there, backward simply keeps the one it has just calculated.

What to do
    `optimizer.zero_grad()` does that by default since torch 2.0: leave `set_to_none=False` out. In older versions
    `optimizer.zero_grad(set_to_none=True)`.

When to leave it
    When other code holds on to the gradient tensors (captured CUDA graphs, flat buffers of some libraries), or when
    it reads `p.grad` without expecting it to be absent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.training.gradient_zeroing import GradientZeroing
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.cell.cell_lines import lines_calling
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.rules.saving.launch_waits import launch_waits
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.whatif.changes.optimizers import zeroing_dropped
from gpuprof.whatif.predict import Range


@dataclass(frozen=True)
class GradientsZeroedInPlace(Rule):
    """See the module."""

    guard = Guard.EXACT

    cost_share: float = threshold(0.005, "of the step: the change is one word, so that little is enough")
    low_share: float = threshold(0.03, "of the step: below it the gain is small")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the time in zeroing and in adding to zeros."""
        found, activity = results.get(GradientZeroing), results.get(DeviceActivity)
        if not found.zeroed:
            return None
        if activity.recorded is False:
            return without_device(self.name, results, "the kernels that zero the gradients")
        compute, scope = KernelTime.of(results), Scope.of(results)
        if compute is not None and compute.computes:
            kernels = compute.during(found.zeroing), compute.during(found.adding)
            zeroing, adding = (
                intervals.joined(each, launch_waits(results, host))
                for each, host in zip(kernels, _on_host(found, scope), strict=True)
            )
        else:
            zeroing, adding = _on_host(found, scope)
        cost = intervals.clip(intervals.joined(zeroing, adding), results.span_start_ns, results.span_end_ns)
        bound = min(zeroing.total_ns + found.avoidable_share * adding.total_ns, cost.total_ns)
        if scope.share(bound) < self.cost_share:
            return None
        return self._finding(results, scope, found, cost, bound, on_device=compute is not None and compute.computes)

    def _finding(
        self,
        results: Results,
        scope: Scope,
        found: GradientZeroing,
        cost: Intervals,
        bound: float,
        *,
        on_device: bool,
    ) -> Finding:
        share = scope.share(bound)
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=f"Zeroing gradients and adding to the zeros takes {units.percent(share)} of {scope.words}",
            explanation=(
                f"`zero_grad` zeroes the gradients in {units.plural(found.zeroed, 'operator')} over "
                f"{units.plural(found.zero_grads, 'call')}, and backward adds to them in "
                f"{units.plural(found.added, 'operator')}: {units.duration(bound)} "
                f"{'of the device, launches included,' if on_device else 'on the host'} that gradients which are "
                "dropped do not take."
            ),
            evidence={
                "zero_grad_calls": found.zero_grads,
                "zeroing_operators": found.zeroed,
                "adding_operators": found.added,
                "cost_ms": units.milliseconds(bound),
                "cost_share": round(share, 4),
            },
            where=Where(lines=_lines(results, found, scope), ranges_ns=worst(cost)),
            change="Call `optimizer.zero_grad()` without `set_to_none=False`; before torch 2.0 "
            "`optimizer.zero_grad(set_to_none=True)`.",
            diff=cell_diff(results, _edit),
            saving=scope.saving(
                bound * 0.3, bound * 0.8, bound, "upper bound: none of the zeroing and of the additions to zeros"
            ),
        )
        strengths = Range(*(zeroing_dropped(results, *_on_host(found, scope), left) for left in (0.7, 0.2, 0.0)))
        basis = "upper bound: simulated without the zeroing and the additions to zeros"
        return retimed(results, finding, strengths, basis)


def _edit(source: str) -> str | None:
    from gpuprof.code_edits.loops.optimizers import drop_zeroing_in_place

    return drop_zeroing_in_place(source)


def _on_host(found: GradientZeroing, scope: Scope) -> tuple[Intervals, Intervals]:
    whole = Intervals(found.host_start_ns, found.host_start_ns + found.host_duration_ns)
    added = np.arange(len(whole.starts)) < found.added
    zeroing, adding = (intervals.union(Intervals(whole.starts[part], whole.ends[part])) for part in (~added, added))
    return intervals.intersect(zeroing, scope.within), intervals.intersect(adding, scope.within)


def _lines(results: Results, found: GradientZeroing, scope: Scope) -> tuple[int, ...]:
    """The lines that zero, not those of the backward pass: there it is mended."""
    zeroing, _ = _on_host(found, scope)
    return results.get(LinePlaces).cell_lines(zeroing) or lines_calling(results, "zero_grad")
