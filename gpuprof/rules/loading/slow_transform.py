"""One transform takes most of the time in which batches are made.

What it finds
    The steps wait for data, more workers cannot hide that, and one transform of the dataset takes at least half of the
    time in which its samples are read and collated, computing. The first batches of each process are timed. Where
    samples were seen to differ from pass to pass, it is a minor finding: what is random cannot be done once.

Why it costs
    Every sample goes through it, in every epoch, on the host. As long as batches are the bottleneck, a step is as long
    as their making.

What to do
    If its result is the same in every epoch (decoding, resizing, normalising): do it once and store the result. Else
    give whole batches to it (tensor operations, `__getitems__`), or apply it on the device after the copy. A smaller
    input costs less, too: crop before resizing, work on uint8 before float.

When to leave it
    When the data change too often to be stored, or when the device has no memory or time left for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.sample_cost import SampleCost
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model.context import Loader
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.loading.sample_making import loading_evidence, loading_saving, stalled, without_times
from gpuprof.rules.saving.scope import Scope, graded


@dataclass(frozen=True)
class SlowTransform(Rule):
    """See the module."""

    stall_share: float = threshold(0.05, "of the step: under it the cure is hardly seen among other variation")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    transform_share: float = threshold(0.50, "of the making of a batch: under it no single transform is the cause")
    processors_used: float = threshold(0.50, "on average: below it the samples wait rather than compute")
    samples: float = threshold(20, "timed: fewer may be chance")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the transform that takes longest."""
        if not stalled(results, self.stall_share):
            return None
        cost = results.get(SampleCost)
        loading, slowest, share = cost.loading, cost.slowest, cost.slowest_share
        if loading is None or loading.samples < self.samples:
            return without_times(self.name)
        if (
            slowest is None
            or share is None
            or share < self.transform_share
            or (cost.processors_used or 0) < self.processors_used
        ):
            return None
        on_device = results.get(DeviceActivity).primary is not None
        loader, scope = results.get(WorkerPlan).loader, Scope.of(results)
        each = slowest.duration_ns / max(slowest.calls, 1)
        whole = (loading.sample_ns + loading.collate_ns) / loading.samples
        return Finding(
            rule=self.name,
            severity=graded(scope.share(cost.stall_ns or 0), self.high_share) if not _changes(loader) else Severity.LOW,
            title=f"The transform `{slowest.name}` takes {units.percent(share)} of the time in which batches are made",
            explanation=(
                f"A sample of `{loading.source}` takes {units.duration(whole)}, {units.duration(each)} of it in "
                f"`{slowest.name}` (mean of {units.plural(loading.samples, 'timed sample')}). The steps wait "
                f"{units.percent(scope.share(cost.stall_ns or 0))} of their time for data, and more workers cannot "
                "hide all of that."
            ),
            evidence={
                "transform": slowest.name,
                "transform_ms": units.milliseconds(each),
                "transform_share": round(share, 4),
                **loading_evidence(results),
            },
            where=Where(lines=(loader.line,) if loader and loader.line else ()),
            change=(
                f"If `{slowest.name}` gives the same in every pass, do it once and store the result. Else apply it to "
                "whole batches (tensor operations, `__getitems__`)"
                f"{', or on the device after the copy' if on_device else ''}; less input costs less: crop before "
                "resizing, uint8 before float."
            ),
            saving=loading_saving(results, share, f"upper bound: `{slowest.name}` costs the host nothing"),
        )


def _changes(loader: Loader | None) -> bool:
    """Whether the same index gave another sample in a later pass."""
    return loader is not None and loader.samples_same < loader.samples_compared
