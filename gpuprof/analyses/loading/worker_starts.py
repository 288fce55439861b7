"""What it costs to start and to end a DataLoader's workers: anew for each pass over the data, and at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model.context import Loader
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class WorkerStarts(Result):
    """The loader with workers that are not kept whose starts cost most; None where there is none.

    `restarts`: passes over it after the first. `cost_ns`: over these, the time in `iter(loader)`, plus what the first
    batch was waited for longer than the median batch, plus what ending the workers of the pass before took.
    `cell_ns`: the length of the cell; `share`: cost ÷ that, 0..1,
    None where the length is not known. `ranges_ns`: from the begin of each restart to its first batch.
    """

    loader: Loader | None
    restarts: int
    cost_ns: int
    cell_ns: int | None
    share: float | None
    ranges_ns: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what capture noted of the loaders."""
        window = trace.context.window
        cell = window.cell_end_ns - window.cell_start_ns if window else 0
        found = [
            (each, *_restarts(each))
            for each in trace.context.loaders
            if each.workers > 0 and not each.persistent_workers and len(each.iteration_start_ns) > 1
        ]
        if not found:
            return cls(None, 0, 0, cell or None, None, ())
        loader, cost, ranges = max(found, key=lambda each: each[1])
        return cls(loader, len(ranges), cost, cell or None, cost / cell if cell > 0 else None, tuple(ranges))


def _restarts(loader: Loader) -> tuple[int, list[tuple[int, int]]]:
    waits, begins = np.array(loader.wait_ns, np.int64), np.array(loader.wait_start_ns, np.int64)
    usual = float(np.median(waits)) if len(waits) else 0.0
    cost, ranges = 0.0, []
    starts = loader.iteration_start_ns
    for start, took, until in zip(starts[1:], loader.iteration_set_up_ns[1:], (*starts[2:], None), strict=False):
        first = int(np.searchsorted(begins, start))
        read = first < len(begins) and (until is None or begins[first] < until)
        cost += took + (max(float(waits[first]) - usual, 0.0) if read else 0.0)
        ranges.append((start, int(begins[first] + waits[first]) if read else start + took))
    return int(cost) + sum(loader.iteration_end_ns[: len(starts) - 1]), ranges


@dataclass(frozen=True)
class WorkerUpkeep(Result):
    """The starting and ending of the workers of the loader that the steps waited for longest (see StallingLoader).

    `cost_ns`: over all passes, the time in `iter(loader)`, what the first batch was waited for beyond what a batch
    takes to compute, and the ending of the workers. `share`: of the cell, 0..1. None where there are no workers, where
    the making of batches was not timed or the length of the cell is not known.
    """

    cost_ns: int | None
    share: float | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what capture noted of that loader."""
        awaited, window = results.get(StallingLoader), trace.context.window
        loader, loading = awaited.loader, awaited.loading
        cell = window.cell_end_ns - window.cell_start_ns if window else 0
        if loader is None or not loader.workers or loading is None or not loading.batches or cell <= 0:
            return cls(None, None)
        waits, begins = np.array(loader.wait_ns, np.int64), np.array(loader.wait_start_ns, np.int64)
        first = np.unique(np.searchsorted(begins, np.array(loader.iteration_start_ns, np.int64)))
        late = waits[first[first < len(waits)]] - loading.cpu_ns / loading.batches
        cost = sum(loader.iteration_set_up_ns) + int(np.maximum(late, 0).sum()) + sum(loader.iteration_end_ns)
        return cls(cost, min(cost / cell, 1.0))
