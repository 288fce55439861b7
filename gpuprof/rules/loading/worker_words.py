"""What is said of the worker processes of a DataLoader: what they lack, and why no more of them would help."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.loading.worker_plan import WorkerPlan


def besides(plan: WorkerPlan) -> str:
    """What workers are not: as many threads, or readers of a part of an iterable dataset."""
    slow = (
        f" A worker computes with one thread: it takes about {units.factor(plan.slowdown)} as long for a batch as this "
        "process does with several."
        if plan.slowdown > 1
        else ""
    )
    return f"{slow}{repeats(plan)}"


def repeats(plan: WorkerPlan) -> str:
    """That several workers would each give all samples; empty where they surely do not."""
    if plan.repeats:
        return (
            " Several workers would each give all samples of this `IterableDataset`, unless it shares them out "
            "(`torch.utils.data.get_worker_info()`)."
        )
    known = plan.loader is not None and plan.loader.iterable is False
    if known or plan.suggested == 1:
        return ""
    return (
        " If the dataset is an `IterableDataset`, it must share out its samples among the workers "
        "(`torch.utils.data.get_worker_info()`): else each gives all of them."
    )


def why_no_workers(plan: WorkerPlan) -> str:
    """Why no more worker processes are advised; empty where nothing is known of it."""
    if plan.handover_dominates and plan.workers == 0:
        return " Worker processes would not help: handing over such a small batch takes them as long as making it."
    if plan.workers == 0 and plan.possible == 0 and plan.held and (plan.cores or 0) > 1:
        return (
            f" Worker processes would not help: of {units.plural(plan.cores or 0, 'core')} that it may use none was "
            "free while it ran."
        )
    if plan.workers == 0 and plan.possible == 0:
        return " Worker processes would compete for the only core of this process."
    if plan.workers == 0 and plan.slowdown > 1:
        return " Worker processes compute with one thread each: with these cores they would be slower than this one."
    if plan.workers and plan.repeats:
        return repeats(plan)
    if plan.workers and plan.possible is not None and plan.workers >= plan.possible:
        return (
            f" This process has {units.plural(plan.cores or 0, 'core')} for {units.plural(plan.workers, 'worker')} and "
            "the main thread: more workers help only while they wait (for a disk or a network), not compute."
        )
    if plan.starved:
        return " The workers there are wait for a core themselves, which something else holds: more would wait, too."
    return ""
