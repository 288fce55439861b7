"""Device memory is fetched from the driver, or given back, in steps that should reuse what torch holds.

What it finds
    Calls such as `cudaMalloc`, `cudaFree`, `hipMalloc` and `hipFree` in most steps after the first, with the device
    idle in them. In the first step they are normal: torch fetches the memory that it then keeps and reuses.

Why it costs
    A `cudaFree` waits until the whole device has finished; a `cudaMalloc` takes the host from tens of µs to ms. A step
    that reuses torch's cached memory needs neither.

What to do
    It depends on the cause. With the cache switched off (`PYTORCH_NO_CUDA_MEMORY_CACHING=1`, meant for debugging)
    every tensor is a call of its own: switch it on. With shapes that change from step to step no cached block fits:
    run the largest shape once at the beginning, pad to a few fixed shapes, or use
    `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`. With memory that is full, torch frees blocks to make room: see
    `memory_near_limit`.

When to leave it
    When the shapes are still settling and later steps are free of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.memory.memory_calls import MemoryCalls
from gpuprof.rules.saving.scope import graded, worst


@dataclass(frozen=True)
class AllocatorCallsInStep(Rule):
    """See the module."""

    idle_share: float = threshold(0.01, "of the steady steps with the device idle in these calls")
    high_share: float = threshold(0.20, "of the steady steps: then it is the first thing to mend")
    steps_share: float = threshold(0.8, "of the steady steps have such calls: one now and then is the cache growing")
    steps: float = threshold(2, "steady steps: fewer do not tell warm-up from habit")
    alone_share: float = threshold(0.2, "of the frees scattered where a cache never frees: the cache is off")
    per_step: float = threshold(20, "allocations a step: fewer do not show that the cache is off")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the calls of the steady steps."""
        cost, calls = MemoryCalls.of(results), results.get(AllocatorCalls)
        if cost is None:
            return without_device(self.name, results, "the device’s activity around the driver’s memory calls")
        if not results.get(StepTime).count and calls.everywhere_ns >= self.idle_share * results.span_ns > 0:
            return Abstention(
                self.name,
                "steps: without them the memory fetched at the start cannot be told from that of a steady state",
                "Step an optimizer or iterate a DataLoader in the cell, or call the profiler’s `step()`.",
            )
        if calls.steps < self.steps or not cost.are_habit(self.steps_share) or cost.share < self.idle_share:
            return None
        return cost.retimed(self._finding(results, cost, calls))

    def _finding(self, results: Results, cost: MemoryCalls, calls: AllocatorCalls) -> Finding:
        return Finding(
            rule=self.name,
            severity=graded(cost.share, self.high_share),
            title="Fetching memory from the driver and giving it back costs "
            f"{units.percent(cost.share)} of the steps’ time",
            explanation=(
                f"{calls.steps_with} of {units.plural(calls.steps, 'steady step')} call the driver for memory: "
                f"{units.plural(round(calls.allocations / calls.steps), 'allocation')} and "
                f"{units.plural(round(calls.frees / calls.steps), 'free')} a step. {cost.cost_words}"
            ),
            evidence=cost.evidence(),
            where=Where(lines=results.get(LinePlaces).cell_lines(calls.host), ranges_ns=worst(calls.host)),
            change=self._change(results, calls),
            saving=cost.saving(),
        )

    def _change(self, results: Results, calls: AllocatorCalls) -> str:
        if self._cache_off(calls):
            return (
                "Switch torch’s memory cache on again: memory is freed where a cache never does that, which is the "
                "mark of `PYTORCH_NO_CUDA_MEMORY_CACHING=1` (also honoured on ROCm). Unset it and restart the kernel."
            )
        if any(each.retries for each in results.context.allocators):
            return (
                "The device’s memory is full, so that torch frees cached blocks to make room: use less of it (a "
                "smaller batch, checkpointing, autocast)."
            )
        return (
            "If shapes change from step to step, run the largest one once at the beginning or pad to a few fixed "
            "shapes; else start with `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`."
        )

    def _cache_off(self, calls: AllocatorCalls) -> bool:
        scattered = calls.frees_alone + calls.bursts >= self.alone_share * calls.frees > 0
        return scattered and min(calls.allocations, calls.frees) >= self.per_step * calls.steps
