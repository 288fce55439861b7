"""Samples are fetched one by one, and each fetch waits while the processor is idle.

What it finds
    The steps wait for data, more workers for which there are cores cannot hide that, and reading a sample waits (for a
    disk, a network or a lock) rather than computes: it uses a processor for less than a quarter of its time, and every
    sample waits at least about once. The dataset has no `__getitems__`.

Why it costs
    The latency of each fetch is paid for every sample, one after the other. Storage answers many requests at once, or
    one large one, in hardly more time than one small one.

What to do
    Give the dataset `__getitems__(indices)`, which torch calls with the indices of a whole batch: fetch them in one
    request, or at the same time (a thread pool, asyncio). Store samples together in larger files that are read in
    order (shards), or copy the data to a local disk. Workers that wait need no core: more of them help here.

When to leave it
    When the wait is for a limit of the storage itself (bytes a second, requests a second) or for a lock.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.sample_cost import SampleCost
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.loading.sample_making import loading_evidence, loading_saving, stalled, without_times
from gpuprof.rules.saving.scope import Scope, graded


@dataclass(frozen=True)
class PerSampleFetch(Rule):
    """See the module."""

    stall_share: float = threshold(0.05, "of the step: under it the cure is hardly seen among other variation")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    processors_used: float = threshold(0.25, "on average: above it computing is a good part of the cost")
    waits_per_sample: float = threshold(0.9, "a sample that never waits is held up by something else")
    transforms_share: float = threshold(0.5, "of the time: then the wait is in a transform, not in the fetch")
    samples: float = threshold(20, "timed: fewer may be chance")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what reading a sample does."""
        if not stalled(results, self.stall_share):
            return None
        cost, plan = results.get(SampleCost), results.get(WorkerPlan)
        loading, cpu = cost.loading, cost.processors_used
        if loading is None or loading.samples < self.samples or cost.blocked_per_sample is None or cpu is None:
            return without_times(self.name)
        # workers that share cores wait for those as well; where that was timed, it counts as computing
        crowded = loading.core_wait_ns is None and (plan.cores is None or (plan.workers or 0) + 1 > plan.cores)
        in_fetch = (cost.transforms_share or 0.0) < self.transforms_share and loading.sample_ns > loading.collate_ns
        if crowded or loading.batched or not in_fetch or cpu >= self.processors_used:
            return None
        return self._finding(results, cost) if cost.blocked_per_sample >= self.waits_per_sample else None

    def _finding(self, results: Results, cost: SampleCost) -> Finding:
        loading, loader, scope = cost.loading, results.get(WorkerPlan).loader, Scope.of(results)
        assert loading is not None and cost.processors_used is not None and cost.blocked_per_sample is not None
        waits = 1 - cost.processors_used
        stall = scope.share(cost.stall_ns or 0)
        return Finding(
            rule=self.name,
            severity=graded(stall, self.high_share),
            title=f"Samples are fetched one by one; {units.percent(waits)} of the fetching is waiting",
            explanation=(
                f"Reading a sample of `{loading.source}` takes {units.duration(loading.sample_ns / loading.samples)} "
                f"and waits {cost.blocked_per_sample:.1f} times in it (mean of "
                f"{units.plural(loading.samples, 'timed sample')}); a processor is used "
                f"{units.percent(cost.processors_used)} of the time. The steps wait {units.percent(stall)} of their "
                "time for data."
            ),
            evidence=loading_evidence(results),
            where=Where(lines=(loader.line,) if loader and loader.line else ()),
            change=(
                f"Give `{loading.source}` a `__getitems__(self, indices)` that fetches a whole batch in one request, "
                "or its samples at the same time (`ThreadPoolExecutor.map`); or store samples together in shards, on a "
                "local disk. More workers than cores help here as well, since they wait."
            ),
            saving=loading_saving(results, waits, "upper bound: fetching together, no sample waits"),
        )
