"""How many DataLoader workers would help, from what one batch costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.input_pipeline import InputPipeline
from gpuprof.analyses.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# measured on two cores: 0.7 ms a batch of 64 × 64 floats with one worker, 1.1 ms with two, more for larger ones
HANDOVER_NS = 2_000_000


@dataclass(frozen=True)
class WorkerPlan(Result):
    """Arithmetic on the loader that was waited for longest (design/whatif.md, formula 1, in its steady state).

    `loader` is judged by its waits inside the steps; those of one line (a loader made anew in each epoch) are one. None
    where the steps waited for none of several.
    `load_ns`: time that one batch takes to make: in-process the median wait, with N workers N × the time between two
    batches (all of them at work, else nobody would wait). `rest_ns`: the work between two waits. `workers`: those
    there are. `needed` keep up with the rest: load ÷ rest. `cores`: of this process. `saved_per_batch_ns`: what
    `suggested` workers, each as fast as this thread, would take off a batch. None is *unknown*.
    """

    loader: Loader | None
    load_ns: float | None
    rest_ns: float | None
    workers: int | None
    needed: int | None
    cores: int | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the waits and the settings."""
        pipeline, environment = results.get(InputPipeline), trace.context.environment
        loader, waits = _awaited(trace, pipeline.loaders)
        workers = loader.workers if loader else 0 if pipeline.in_process else None
        cores = environment.cores_allowed if environment else None
        batches = int(pipeline.batch.sum())
        if pipeline.median_ns is None or pipeline.wait_ns is None or not batches:
            return cls(loader, None, None, workers, None, cores)
        mean = max((pipeline.within_ns - pipeline.wait_ns) / batches, 0.0)
        # a slow first step would distort the mean; one batch alone has no median
        rest = mean if pipeline.work_ns is None else min(pipeline.work_ns, mean)
        wait = float(np.median(waits)) if len(waits) else pipeline.median_ns
        load = wait if workers == 0 else workers * (wait + rest) if workers else None
        needed = math.ceil(load / rest) if load is not None and rest > 0 else None
        return cls(loader, load, rest, workers, needed, cores)

    @property
    def possible(self) -> int | None:
        """One core is the training thread's own."""
        return None if self.cores is None else max(self.cores - 1, 0)

    @property
    def handover_dominates(self) -> bool:
        """Whether a batch is made about as fast as a worker process can hand it over."""
        return self.load_ns is not None and self.load_ns < HANDOVER_NS

    @property
    def repeats(self) -> bool:
        """Whether several workers would each give all samples, as they do of an `IterableDataset`."""
        return bool(self.loader and self.loader.iterable)

    @property
    def suggested(self) -> int | None:
        """Workers that help: no more than needed, no more than there are cores for; None where none does.

        At most one where several would repeat the samples.
        """
        if self.needed is None or self.workers is None or self.handover_dominates:
            return None
        most = min(self.needed, self.needed if self.possible is None else self.possible)
        most = min(most, 1) if self.repeats else most
        return most if most > self.workers else None

    @property
    def saved_per_batch_ns(self) -> float | None:
        """Time between two batches now − with `suggested` workers; None where none is suggested."""
        if self.suggested is None or self.load_ns is None or self.rest_ns is None:
            return None
        now = self.load_ns / self.workers if self.workers else self.load_ns + self.rest_ns
        return max(now - max(self.rest_ns, self.load_ns / self.suggested), 0.0)


def _awaited(trace: Trace, loaders: tuple[Loader, ...]) -> tuple[Loader | None, Array]:
    """The loader that the steps waited for longest, and its waits in them."""
    found: dict[tuple[object, ...], list[tuple[Loader, Array]]] = {}
    for place, loader in enumerate(loaders):
        key = (loader.line, loader.dataset, loader.workers) if loader.line else (place,)
        found.setdefault(key, []).append((loader, _waits_in_steps(trace, loader)))
    ranked = sorted(found.values(), key=lambda group: -sum(int(waits.sum()) for _, waits in group))
    if not ranked:
        return None, np.empty(0, np.int64)
    longest, _ = max(ranked[0], key=lambda each: int(each[1].sum()))
    waits = np.concatenate([waits for _, waits in ranked[0]])
    return (longest if len(waits) or len(ranked) == 1 else None), waits


def _waits_in_steps(trace: Trace, loader: Loader) -> Array:
    """By their middle: the loader's clock is read a little before a step begins with its batch."""
    count = min(len(loader.wait_ns), len(loader.wait_start_ns))
    waits = np.array(loader.wait_ns[:count], np.int64)
    middle = np.array(loader.wait_start_ns[:count], np.int64) + waits // 2
    steps = intervals.union(intervals.of(trace.steps))
    within = steps if len(steps.starts) else intervals.single(trace.span_start_ns, trace.span_end_ns)
    return waits[intervals.contains(within, middle)]
