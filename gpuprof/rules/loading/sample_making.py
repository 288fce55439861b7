"""What the rules about the making of samples share: when they judge, what they lack, what a change would save."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.sample_cost import SampleCost
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.rules.base.finding import Abstention, Saving
from gpuprof.rules.saving.scope import Scope

# Of the waiting: what is left besides may be chance.
_MOSTLY = 0.7


def stalled(results: Results, stall_share: float) -> bool:
    """Whether the steps wait for data, and so that no number of workers there are cores for hides it."""
    cost = results.get(SampleCost)
    waits = cost.stall_ns is not None and Scope.of(results).share(cost.stall_ns) >= stall_share
    return waits and not cost.workers_suffice and not only_handed_over(results)


def only_handed_over(results: Results) -> bool:
    """Without a device: whether the waits are those for batches that workers have ready.

    By how long workers take for a batch, or where most of the waiting is as short as a handover.
    """
    pipeline = results.get(InputPipeline)
    if pipeline.device_idle_in_wait_ns is not None:
        return False
    return results.get(WorkerPlan).waits_are_handover or (pipeline.handover_share or 0.0) > _MOSTLY


def without_times(rule: str) -> Abstention:
    """No batch of the awaited dataset was timed."""
    return Abstention(
        rule,
        "how long the samples of the dataset take, and their transforms",
        "Profile the cell that makes the DataLoader with `%%gpuprofile`, with `num_workers=0` or forked workers; "
        "workers that are started afresh, or ran before the cell, and iterable datasets are not timed.",
    )


def loading_saving(results: Results, share: float, basis: str) -> Saving | None:
    """`share` (0..1) of what a batch takes to make, spread over the workers, on each batch; at most the stall.

    docs/design/whatif.md, formula 1. None where the making of a batch is unknown.
    """
    plan, stall_ns, pipeline = results.get(WorkerPlan), results.get(SampleCost).stall_ns, results.get(InputPipeline)
    if plan.load_ns is None or stall_ns is None:
        return None
    batches = int(pipeline.batch.sum())
    made = plan.load_ns / plan.workers * batches if plan.workers else float(stall_ns)  # in-process, the wait is it
    saved = min(share * made, stall_ns)
    return Scope.of(results).saving(0, saved, saved, basis, part_of=pipeline.waits)


def loading_evidence(results: Results) -> dict[str, float | int | str]:
    """What was timed."""
    cost, plan = results.get(SampleCost), results.get(WorkerPlan)
    loading = cost.loading
    assert loading is not None and cost.processors_used is not None
    facts: dict[str, float | int | str | None] = {
        "stall_share": round(Scope.of(results).share(cost.stall_ns or 0), 4),
        "dataset": loading.source,
        "timed_samples": loading.samples,
        "sample_ms": units.milliseconds(loading.sample_ns / loading.samples),
        "collate_ms_per_batch": units.milliseconds(loading.collate_ns / loading.batches),
        "processors_used": round(cost.processors_used, 4),
        "waits_per_sample": None if cost.blocked_per_sample is None else round(cost.blocked_per_sample, 2),
        "workers": plan.workers,
        "cores": plan.cores,
    }
    return {name: value for name, value in facts.items() if value is not None}
