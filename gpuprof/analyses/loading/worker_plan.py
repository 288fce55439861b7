"""How many DataLoader workers would help, from what one batch costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.cpu_contention import CpuContention
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model.context import Loader
from gpuprof.model.loading import Loading
from gpuprof.model.trace import Trace

# measured on two cores: 0.7 ms a batch of 64 × 64 floats with one worker, 1.1 ms with two, more for larger ones
HANDOVER_NS = 2_000_000
# threads that compute at once: below it the rest is other threads of the process
_SEVERAL = 1.5


@dataclass(frozen=True)
class WorkerPlan(Result):
    """Arithmetic on the loader that was waited for longest (docs/design/whatif.md, formula 1, in its steady state).

    `loader`: see StallingLoader.
    `load_ns`: time that one batch takes to make: in-process the median wait, with N workers N × the time between two
    batches (all of them at work, else nobody would wait). `rest_ns`: the work between two waits. `workers`: those
    there are. `needed` keep up with the rest: load ÷ rest. `cores`: of this process. `saved_per_batch_ns`: what
    `suggested` workers, each as fast as this thread, would take off a batch. None is *unknown*.
    `threads`: how many threads of one worker compute at once, as far as that was seen, else 1. `starved`: the workers
    there are wait for cores themselves. `slowdown`: how many times as long a worker takes for a batch as this process
    does, whose operators compute with several threads where a worker's have one; 1 where that was not seen. `held`:
    cores that other programs use while the steps run, or without a device this process itself, besides one: as far as
    that was measured.
    """

    loader: Loader | None
    load_ns: float | None
    rest_ns: float | None
    workers: int | None
    needed: int | None
    cores: int | None
    threads: int = 1
    starved: bool = False
    slowdown: float = 1.0
    held: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the waits and the settings."""
        pipeline, environment = results.get(InputPipeline), trace.context.environment
        awaited, by_cores = results.get(StallingLoader), results.get(CpuContention)
        loader, waits = awaited.loader, awaited.waits_ns
        workers = loader.workers if loader else 0 if pipeline.in_process else None
        limits = (environment.cores_allowed, environment.cores_limit) if environment else ()
        cores = int(min((each for each in limits if each), default=0)) or None
        batches = int(pipeline.batch.sum())
        if pipeline.median_ns is None or pipeline.wait_ns is None or not batches:
            return cls(loader, None, None, workers, None, cores)
        mean = max((pipeline.within_ns - pipeline.wait_ns) / batches, 0.0)
        # a slow first step would distort the mean; one batch alone has no median
        rest = mean if pipeline.work_ns is None else min(pipeline.work_ns, mean)
        wait = float(np.median(waits)) if len(waits) else pipeline.median_ns
        load = max(wait - pipeline.own_each_ns, 0.0) if workers == 0 else workers * (wait + rest) if workers else None
        slowdown = _slowdown(awaited.loading) if workers == 0 else 1.0
        needed = math.ceil(load * slowdown / rest) if load is not None and rest > 0 else None
        threads = max(round(by_cores.worker_threads or 0), 1) if workers else 1
        starved = bool(workers) and by_cores.starved
        # workers that are there compute in the readings, too
        held = 0 if workers else by_cores.held_cores(own_threads=results.get(DeviceActivity).recorded is None)
        return cls(loader, load, rest, workers, needed, cores, threads, starved, slowdown, held)

    @property
    def possible(self) -> int | None:
        """One core is the training thread's own, some are held, and each worker takes as many as it has threads that
        compute."""
        return None if self.cores is None else max(self.cores - 1 - self.held, 0) // self.threads

    @property
    def handover_dominates(self) -> bool:
        """Whether a batch is made about as fast as a worker process can hand it over."""
        return self.load_ns is not None and self.load_ns < HANDOVER_NS

    @property
    def waits_are_handover(self) -> bool:
        """Whether workers keep up, and what the waits still show is the handing over of batches that are ready."""
        if not self.workers or self.load_ns is None or self.rest_ns is None:
            return False
        return self.load_ns / self.workers - self.rest_ns < HANDOVER_NS

    @property
    def repeats(self) -> bool:
        """Whether several workers would each give all samples, as they do of an `IterableDataset`."""
        return bool(self.loader and self.loader.iterable)

    @property
    def suggested(self) -> int | None:
        """Workers that help: no more than needed, no more than there are cores for; None where none does.

        None where those there are wait for cores: one more would wait, too. At most one where several would repeat the
        samples.
        """
        if self.needed is None or self.workers is None or self.handover_dominates or self.starved:
            return None
        most = min(self.needed, self.needed if self.possible is None else self.possible)
        most = min(most, 1) if self.repeats else most
        if most <= self.workers or self.load_ns is None or self.rest_ns is None:
            return None
        # few workers of one thread each may be slower than this process with several
        return most if self.load_ns * self.slowdown / most < self._now_ns(self.load_ns, self.rest_ns) else None

    def _now_ns(self, load_ns: float, rest_ns: float) -> float:
        """Time between two batches as it is."""
        return load_ns / self.workers if self.workers else load_ns + rest_ns

    @property
    def saved_per_batch_ns(self) -> float | None:
        """Time between two batches now − with `suggested` workers; None where none is suggested."""
        if self.suggested is None or self.load_ns is None or self.rest_ns is None:
            return None
        now_ns = self._now_ns(self.load_ns, self.rest_ns)
        return max(now_ns - max(self.rest_ns, self.load_ns * self.slowdown / self.suggested), 0.0)


def _slowdown(loading: Loading | None) -> float:
    wall = loading.sample_ns + loading.collate_ns if loading else 0
    threads = loading.cpu_ns / wall if loading and wall > 0 else 1.0
    return threads if threads >= _SEVERAL else 1.0
