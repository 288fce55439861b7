"""Who waits for a core: the DataLoader's workers while they make batches, and the main thread in the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

# of the time that they compute: half of it again spent waiting for a core is no chance
_STARVED = 0.5
# of a core: with less of it free a worker is slow
_NEARLY = 0.4
# of what it asked for: a thread that gets less waits because there is no core
_WAITED = 0.9
# columns that not every reading has
_SELDOM = ("other_cpu_percent",)


@dataclass(frozen=True)
class CpuContention(Result):
    """By the kernel's scheduler (Linux). None is *unknown*.

    Workers, of the awaited loader, over the timed batches: `worker_threads` are the threads of one worker that run or
    would run if they had a core, on average while it makes a batch: (computing + waiting for a core) ÷ wall time; about
    0 where its samples wait for a disk. `worker_wait_ratio`: their waiting for a core ÷ their computing.
    Within the steps (the span where no steps are known), from the host's samples: `main_wait_share` of the time the
    main thread was ready to run but had no core, `main_run_share` that it ran; `process_cores` is what this process,
    `children_cores` what its child processes computed, `other_cores` what other programs computed on the cores that
    this process may run on, in cores. `readings`: host samples in which the main thread's waiting is known.
    """

    worker_threads: float | None = None
    worker_wait_ratio: float | None = None
    main_wait_share: float | None = None
    main_run_share: float | None = None
    process_cores: float | None = None
    children_cores: float | None = None
    other_cores: float | None = None
    readings: int = 0

    @property
    def starved(self) -> bool:
        """Whether the workers wait for cores for at least half of the time that they compute."""
        return self.worker_wait_ratio is not None and self.worker_wait_ratio >= _STARVED

    @property
    def core_share(self) -> float | None:
        """Of the CPU time that the main thread asked for, what it got, 0..1."""
        if self.main_wait_share is None or self.main_run_share is None:
            return None
        asked = self.main_run_share + self.main_wait_share
        return self.main_run_share / asked if asked > 0 else None

    def held_cores(self, *, own_threads: bool) -> int:
        """Cores that are in use besides the main thread's, as whole ones: by other programs, and where `own_threads` by
        other threads of this process. One at least where the main thread itself waits for a core for long."""
        own = max((self.process_cores or 0.0) - 1.0, 0.0) if own_threads else 0.0
        held = int(own + (self.other_cores or 0.0) + _NEARLY)
        waits = self.core_share is not None and self.core_share < _WAITED
        return max(held, 1) if waits else held

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the timed batches and the host's samples of a live run."""
        awaited = results.get(StallingLoader)
        loader, loading = awaited.loader, awaited.loading
        threads = ratio = None
        if loader and loader.workers and loading and loading.core_wait_ns is not None:
            wall = loading.sample_ns + loading.collate_ns
            threads = (loading.cpu_ns + loading.core_wait_ns) / wall if wall > 0 else None
            ratio = loading.core_wait_ns / loading.cpu_ns if loading.cpu_ns > 0 else None
        steps = intervals.union(intervals.of(trace.steps))
        within = steps if len(steps.starts) else intervals.single(trace.span_start_ns, trace.span_end_ns)
        waits, readings = _mean(trace, "main_core_wait_percent", within)
        return cls(
            worker_threads=threads,
            worker_wait_ratio=ratio,
            main_wait_share=waits,
            main_run_share=_mean(trace, "main_thread_percent", within)[0],
            process_cores=_mean(trace, "cpu_percent", within)[0],
            children_cores=_mean(trace, "children_cpu_percent", within)[0],
            other_cores=_mean(trace, "other_cpu_percent", within)[0],
            readings=readings,
        )


def _mean(trace: Trace, column: str, within: Intervals) -> tuple[float | None, int]:
    """Mean of a percentage that is about the time since the reading before (which told it), as a share, and over how
    many readings.

    Each counts by how much of its time lies in `within`.
    """
    samples = trace.host_readings
    told = samples.take(~np.isnan(samples[column])) if column in _SELDOM else samples
    times, values = told["time_ns"][1:], told[column][1:].astype(np.float64)
    weights = intervals.covered(within, told["time_ns"][:-1], times).astype(np.float64)
    known = ~np.isnan(values) & (weights > 0)
    if not known.any():
        return None, 0
    return float(np.average(values[known], weights=weights[known])) / 100, int(known.sum())
