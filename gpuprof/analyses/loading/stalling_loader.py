"""Which DataLoader the steps wait for, and what was timed of its dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.context import Loader
from gpuprof.model.loading import Loading
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# fewer may be a look at the first batches
_FEWEST_ITERATORS = 8
_NEARLY_EACH = 0.9


@dataclass(frozen=True, eq=False)
class StallingLoader(Result):
    """The loader that was waited for longest, judged by its waits inside the steps.

    Those of one line (a loader made anew in each epoch) are one. `loader` is None where the steps waited for none of
    several. `waits_ns`: its waits in the steps (in the span where no steps are known), int64 of shape `(waits,)`.
    `loading`: what was timed of its dataset; None where nothing was, or where two datasets cannot be told apart.
    """

    loader: Loader | None
    waits_ns: Array
    loading: Loading | None

    @property
    def iterator_each_batch(self) -> bool:
        """Whether nearly every batch came of an iterator of its own, though its loader has more than that one: as
        `next(iter(loader))` does."""
        loader = self.loader
        if loader is None or loader.batches == 1 or loader.iterations_started < _FEWEST_ITERATORS:
            return False
        # of a loader with a single batch a loop finds the end each time
        whole_passes = 2 * len(loader.iteration_end_ns) >= loader.iterations_started
        return not whole_passes and loader.iterations_started >= _NEARLY_EACH * loader.batches_read

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the loaders of a live run."""
        loader, waits = _awaited(trace, trace.context.loaders)
        return cls(loader, waits, _loading(trace, loader))


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


def _loading(trace: Trace, loader: Loader | None) -> Loading | None:
    if loader is None:
        return None
    fits = [
        each
        for each in trace.context.loadings
        if each.dataset == loader.dataset and loader.samples in (None, each.dataset_samples)
    ]
    return fits[0] if len(fits) == 1 else None
