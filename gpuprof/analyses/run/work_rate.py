"""How fast the work went without the recording, by samples and by steps: the measure of a run, where it has any."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.loops.batch_sizes import BatchSizes
from gpuprof.model.context import Loader, Window
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FEWEST = 8


@dataclass(frozen=True)
class WorkRate(Result):
    """Iterations that ran after the recording had ended, by the stopwatch of the capture.

    `median_ns`: of one batch of the loader that gave most, else of one step; None where fewer than eight ran so.
    `error_share`: standard error of that median over it: 1.25 σ/√n with σ = inter-quartile range ÷ 1.35.
    `sample_ns`: their time per sample on average, with `sample_error_share`. A median would not do: on a busy machine
    the short iterations of a small batch mostly escape its interruptions, and a few take them all.
    `batch_size`: samples of such an iteration, `samples`: of all in the cell; None where unknown. `sample_tokens`: real
    tokens of one sample on average, of sequences; None where its batches did not tell.
    """

    median_ns: float | None = None
    error_share: float | None = None
    sample_ns: float | None = None
    sample_error_share: float | None = None
    batch_size: int | None = None
    samples: int | None = None
    sample_tokens: float | None = None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From when each batch was waited for, else from the window."""
        window = trace.context.window
        loader = max(trace.context.loaders, key=lambda each: each.batches_read, default=None)
        if loader is None or not loader.batches_read:
            sizes = results.get(BatchSizes).of_losses
            batch = next(iter(sizes)) if len(sizes) == 1 else None
            samples = batch * window.steps_seen if batch and window and window.steps_seen else None
            if window is None:
                return cls(batch_size=batch)
            step_ns, error = window.plain_step_ns, window.plain_error_share
            sample_ns = step_ns / batch if step_ns and batch else None
            return cls(step_ns, error, sample_ns, error if sample_ns else None, batch, samples)
        batch, samples = loader.batch_size, _samples(loader)
        times = _after_the_recording(loader, window) if window else np.empty(0)
        tokens = loader.tokens_a_batch / batch if loader.tokens_a_batch and batch else None
        if len(times) < _FEWEST:
            return cls(batch_size=batch, samples=samples, sample_tokens=tokens)
        mean = float(times.mean())
        mean_error = float(times.std()) / math.sqrt(len(times)) / mean if mean > 0 else 0.0
        return cls(
            median_ns=float(np.median(times)),
            error_share=_error(times),
            sample_ns=mean / batch if batch else None,
            sample_error_share=mean_error if batch else None,
            batch_size=batch,
            samples=samples,
            sample_tokens=tokens,
        )


def _after_the_recording(loader: Loader, window: Window) -> Array:
    """ns from one wait to the next; without those between two epochs, and the one in which the recording was saved."""
    starts = np.array(loader.wait_start_ns, np.int64)
    epochs = np.array(loader.iteration_start_ns, np.int64)
    epoch_of = np.searchsorted(epochs, starts, side="right")
    plain = (np.diff(epoch_of) == 0) & (starts[:-1] > window.end_ns)
    times: Array = np.diff(starts)[plain].astype(np.float64)
    return times


def _error(times: Array) -> float:
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75))
    return float(1.25 * (high - low) / 1.35 / math.sqrt(len(times)) / median) if median > 0 else 0.0


def _samples(loader: Loader) -> int | None:
    """The last batch of an epoch may be smaller: whole epochs have the samples of the dataset."""
    if loader.batch_size is None:
        return None
    if loader.samples is not None and loader.batches and loader.batches_read % loader.batches == 0:
        whole = min(loader.samples, loader.batches * loader.batch_size)
        return whole * (loader.batches_read // loader.batches)
    return loader.batch_size * loader.batches_read
