"""The device (or, without one, the training loop) waits for the DataLoader.

What it finds
    The main thread sits inside the DataLoader's `__next__` while the device has nothing to do. On a run without a
    device the wait itself is counted, since nothing else happens in it. The first batch of an iteration whose workers
    are still starting, and the last call that finds the loader exhausted, are left out.

Why it costs
    The step cannot begin before its batch is there. Time in which the device is idle for want of data is lost; time in
    which the device still works off its queue is not, and does not count here.

What to do
    With `num_workers=0` each batch is made on the training thread itself: let worker processes make it ahead of time
    (`num_workers=N`, `persistent_workers=True`). N needs to be large enough that N workers make a batch in the time
    that the rest of a step takes; more do not help. Where that is more than the cores there are, or where workers are
    there already, make the batch cheaper: transform whole batches instead of single samples (`__getitems__`, tensor
    operations), move transforms to the device, decode or resize once and store the result.

When to leave it
    When the cell is short beside the start of worker processes (a second or so each), when the data cannot be read in
    parallel, or when a class defined in the notebook cannot be sent to a worker (macOS and Windows start workers
    afresh and must import it from a module).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.device_activity import DeviceActivity
from gpuprof.analyses.input_pipeline import InputPipeline
from gpuprof.analyses.result import Results
from gpuprof.model.context import Loader
from gpuprof.model.intervals import Intervals
from gpuprof.rules.absence import without_device
from gpuprof.rules.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.rule import Rule, threshold
from gpuprof.rules.scope import Scope, graded, worst


@dataclass(frozen=True)
class InputStall(Rule):
    """See the module."""

    stall_share: float = threshold(0.05, "of the step: under it the cure is hardly seen among other variation")
    high_share: float = threshold(0.20, "of the step: then it is the first thing to mend")
    batches: float = threshold(2, "one wait alone may be start-up")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the waits."""
        pipeline, activity, scope = results.get(InputPipeline), results.get(DeviceActivity), Scope.of(results)
        batches = int(pipeline.batch.sum())
        if pipeline.wait_ns is None or batches < self.batches or not scope.total_ns:
            return None
        if activity.recorded is False:
            if scope.share(pipeline.wait_ns) < self.stall_share:
                return None
            return without_device(self.name, results, "the device’s activity during the waits for data")
        stall_ns = pipeline.device_idle_in_wait_ns if pipeline.device_idle_in_wait_ns is not None else pipeline.wait_ns
        if scope.share(stall_ns) < self.stall_share:
            return None
        plan = _Plan.of(results, pipeline, scope, batches)
        who = "The device waits" if plan.on_device else "The training loop waits"
        batch = pipeline.batch
        ranges = Intervals(pipeline.start_ns[batch], (pipeline.start_ns + pipeline.duration_ns)[batch])
        return Finding(
            rule=self.name,
            severity=graded(scope.share(stall_ns), self.high_share),
            title=f"{who} for data {units.percent(scope.share(stall_ns))} of {scope.words}",
            explanation=plan.explanation(pipeline, stall_ns if plan.on_device else None),
            evidence=plan.evidence(pipeline, stall_ns, scope.share(stall_ns)),
            where=Where(lines=plan.lines, ranges_ns=worst(ranges)),
            change=plan.change(),
            saving=plan.saving(scope, stall_ns),
            leave_it="Leave it when the cell is short beside the start of worker processes, or when the data cannot "
            "be read in parallel.",
        )


@dataclass(frozen=True)
class _Plan:
    """How many workers the loader would need, and how many there can be.

    `load_ns`: time to make one batch (in-process: the median wait; with N workers: N × the time between batches).
    `rest_ns`: the work between two waits. `needed` workers keep up with it, `possible` is the cores − 1.
    """

    batches: int
    load_ns: float
    rest_ns: float
    workers: int | None
    needed: int | None
    cores: int | None
    lines: tuple[int, ...]
    dataset: str | None
    on_device: bool

    @classmethod
    def of(cls, results: Results, pipeline: InputPipeline, scope: Scope, batches: int) -> _Plan:
        loader = _slowest(pipeline.loaders)
        workers = 0 if pipeline.in_process else loader.workers if loader else None
        wait = pipeline.median_ns or 0.0
        rest = max((scope.total_ns - (pipeline.wait_ns or 0)) / batches, 0.0)
        load: float | None = wait if workers == 0 else workers * (wait + rest) if workers else None
        needed = math.ceil(load / rest) if load is not None and rest > 0 else None
        environment = results.trace.context.environment
        lines = (loader.line,) if loader and loader.line else ()
        cores = environment.cores_allowed if environment else None
        return cls(
            batches=batches,
            load_ns=load if load is not None else math.nan,
            rest_ns=rest,
            workers=workers,
            needed=needed,
            cores=cores,
            lines=lines,
            dataset=loader.dataset if loader else None,
            on_device=pipeline.device_idle_in_wait_ns is not None,
        )

    @property
    def possible(self) -> int | None:
        return None if self.cores is None else max(self.cores - 1, 0)

    @property
    def suggested(self) -> int | None:
        """Workers that help: no more than needed, no more than there are cores for; None where none does."""
        if self.needed is None or self.workers is None:
            return None
        most = self.needed if self.possible is None else min(self.needed, self.possible)
        return most if most > self.workers else None

    def explanation(self, pipeline: InputPipeline, idle_ns: int | None) -> str:
        made = {0: "made on the training thread itself (num_workers=0)", None: "made by the loader"}
        how = made.get(self.workers, f"made by {units.plural(self.workers or 0, 'worker process', 'worker processes')}")
        idle = f"; the device was idle in {units.duration(idle_ns)} of it" if idle_ns is not None else ""
        return (
            f"{units.plural(self.batches, 'batch', 'batches')} {how} took {units.duration(pipeline.wait_ns)} of "
            f"waiting{idle}. The median wait is {units.duration(pipeline.median_ns)}; the work between two waits takes "
            f"{units.duration(self.rest_ns)}."
        )

    def evidence(self, pipeline: InputPipeline, stall_ns: int, share: float) -> dict[str, float | int | str]:
        facts: dict[str, float | int | str | None] = {
            "wait_ms": units.milliseconds(pipeline.wait_ns or 0),
            "device_idle_in_wait_ms": units.milliseconds(stall_ns) if self.on_device else None,
            "stall_share": round(share, 4),
            "batches": self.batches,
            "wait_median_ms": units.milliseconds(pipeline.median_ns or 0),
            "wait_p95_ms": units.milliseconds(pipeline.p95_ns or 0),
            "work_between_waits_ms": units.milliseconds(self.rest_ns),
            "workers": self.workers,
            "workers_needed": self.needed,
            "cores": self.cores,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def change(self) -> str:
        of = f"the batches of `{self.dataset}`" if self.dataset else "the batches"
        cheaper = (
            f"Make {of} cheaper: transform whole batches instead of single samples (`__getitems__`, tensor operations)"
            f"{', move transforms to the device' if self.on_device else ''}, or precompute what does not change"
        )
        if self.suggested is None and self.workers == 0 and self.possible == 0:
            return f"{cheaper}. Worker processes would compete for the only core of this process."
        if self.suggested is None:
            more = f" {self.workers} workers already use the cores there are." if self.workers and self.cores else ""
            return f"{cheaper}.{more}"
        arguments = f"`num_workers={self.suggested}, persistent_workers=True` for the DataLoader"
        if not self.on_device:
            return (
                f"{cheaper}. Besides, {arguments} makes batches while the loop computes, as far as a core is free "
                "then: without a device both share the cores."
            )
        if self.possible is None:
            return (
                f"Use {arguments}: so many make a batch in the time of the work between two waits, if that many "
                "cores are free (take at most the cores of this process less one)."
            )
        if self.needed is not None and self.suggested < self.needed:
            return (
                f"{cheaper}; it would take {units.plural(self.needed, 'worker')} to keep up, and this process has "
                f"{units.plural(self.cores or 0, 'core')}. Besides, {arguments} can hide a part of it."
            )
        return f"Use {arguments}: so many make a batch in the time of the work between two waits."

    def saving(self, scope: Scope, stall_ns: int) -> Saving:
        if self.suggested is None or not self.on_device:
            return scope.saving(0, stall_ns, stall_ns, "upper bound: all of the wait")
        per_step = self.load_ns + self.rest_ns if self.workers == 0 else self.load_ns / (self.workers or 1)
        best = max(self.rest_ns, self.load_ns / self.suggested)
        workers = units.plural(self.suggested, "worker")
        hidden = min(stall_ns, max(per_step - best, 0) * self.batches)
        return scope.saving(hidden / 3, hidden, hidden, f"upper bound: {workers}, as fast as this thread")


def _slowest(loaders: tuple[Loader, ...]) -> Loader | None:
    return max(loaders, key=lambda loader: int(np.sum(loader.wait_ns)), default=None)
