"""Half of the device's memory is free, and the optimizer's step would cost less a sample with a larger batch.

What it finds
    A device that computes nearly all the time, whose memory peaks at 45 % of its size or less, and an optimizer whose
    kernels take at least a tenth of the step: work that is the same for every batch size.

Why it costs
    The optimizer's step costs the same for 8 samples as for 64. With twice the batch half as many such steps are
    needed for the same samples.

What to do
    Double the batch as long as it fits, and adapt the learning rate. Accumulating gradients over several small batches
    (`optimizer.step()` every k-th one) saves the same time without the memory.

When to leave it
    When the batch size is part of the method, or when a larger one trains worse: training dynamics change with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.memory_peak import MemoryUse
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.device_memory import judged_memory
from gpuprof.rules.saving.scope import Scope, graded, worst


@dataclass(frozen=True)
class MemoryUnused(Rule):
    """See the module."""

    fixed_share: float = threshold(0.10, "of the step in the optimizer's kernels: a doubled batch saves half of it")
    high_share: float = threshold(0.40, "of the step: then it is the first thing to mend")
    compute_share: float = threshold(0.7, "of the step: below it the device waits, and other rules say for what")
    memory_share: float = threshold(0.45, "of the device at the peak: twice that still leaves a tenth free")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the part of the step that does not grow with the batch."""
        device, use = results.get(DeviceActivity).primary, results.get(OptimizerSteps).primary
        if device is None:
            return without_device(self.name, results, "the device’s kernels")
        if use is None or use.device is None or use.closure_untold:
            return None
        scope = Scope.of(results)
        if scope.share(intervals.intersect(device.compute, scope.within).total_ns) < self.compute_share:
            return None
        # the optimizer's kernels, without the gaps between them
        fixed = intervals.intersect(intervals.intersect(intervals.union(use.device), device.compute), scope.within)
        if scope.share(fixed.total_ns) < self.fixed_share:
            return None
        judged = judged_memory(self.name, results)
        if isinstance(judged, Abstention):
            return judged
        memory, peak, limit = judged
        return self._finding(results, scope, fixed, memory, peak, limit) if peak <= self.memory_share * limit else None

    def _finding(
        self, results: Results, scope: Scope, fixed: Intervals, memory: MemoryUse, peak: int, limit: int
    ) -> Finding:
        share, times = scope.share(fixed.total_ns), memory.batches_that_fit or 2
        sizes = [loader.batch_size for loader in results.context.loaders if loader.batch_size]
        to = f" from {sizes[0]} to {2 * sizes[0]}" if sizes else ""
        return Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{units.percent(share)} of {scope.words} is the optimizer, and half of the memory is free",
            explanation=(
                f"The optimizer’s kernels take {units.duration(fixed.total_ns)}, whatever the batch size; memory peaks "
                f"at {units.size(peak)} of {units.size(limit)}."
            ),
            evidence={
                "optimizer_ms": units.milliseconds(fixed.total_ns),
                "optimizer_share": round(share, 4),
                "peak_allocated_bytes": peak,
                "memory_bytes": limit,
                "batches_that_fit": times,
                **({"batch_size": sizes[0]} if sizes else {}),
            },
            where=Where(lines=_stepping_lines(results), ranges_ns=worst(fixed)),
            change=f"Double the batch{to} and adapt the learning rate; or accumulate the gradients of two batches "
            "before each `optimizer.step()`.",
            saving=scope.saving(
                0,
                fixed.total_ns / 2,
                fixed.total_ns * (1 - 1 / times),
                f"estimate, for the same number of samples: half as many optimizer steps; at most 1 in {times}",
            ),
        )


def _stepping_lines(results: Results) -> tuple[int, ...]:
    """The lines that step the optimizer."""
    use = results.get(OptimizerSteps).primary
    host = Intervals(use.start_ns, use.start_ns + use.duration_ns) if use else intervals.EMPTY
    return results.get(LinePlaces).cell_lines(host)
