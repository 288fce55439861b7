"""On which measure two runs are compared: work per time, without the recording, wherever both have it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from gpuprof.report.summary import Summary

RATE, TOKENS = "samples per second", "tokens per second"
PLAIN_STEP, RECORDED_STEP = "unrecorded step", "median step"
CELL, SPAN = "whole cell", "recorded span"
_ALIKE = 0.05  # of each other: the last batch of an epoch may be left out


@dataclass(frozen=True)
class CommonMeasure:
    """`basis` in words, and the time of each run on it, ns: of one sample for `samples per second`, of one token for
    `tokens per second`.

    `noise_share`: differences up to this share may be chance (twice the standard error of the difference of two
    medians); None where too little is known. `plain`: neither time was slowed by the recording.
    """

    basis: str
    before_ns: float
    after_ns: float
    noise_share: float | None = None
    plain: bool = False

    @classmethod
    def of(cls, before: Summary, after: Summary) -> Self:
        """Samples per second, or tokens where the samples differ in length; else step times of equal work; else whole
        cells; without the recording where known."""
        both_plain = before.plain_ns is not None and after.plain_ns is not None
        if before.sample_ns and after.sample_ns:
            noise = _noise(before.sample_error_share, after.sample_error_share)
            if before.sample_tokens and after.sample_tokens and _unlike(before.sample_tokens, after.sample_tokens):
                token_ns = before.sample_ns / before.sample_tokens, after.sample_ns / after.sample_tokens
                return cls(TOKENS, *token_ns, noise, True)
            return cls(RATE, before.sample_ns, after.sample_ns, noise, True)
        if before.batch_size and after.batch_size:
            if before.batch_size != after.batch_size:
                return cls._of_unlike_batches(before, after)
        elif _unlike(before.steps_seen, after.steps_seen) and before.cell_ns is not None and after.cell_ns is not None:
            # a step may be other work: nothing says how many samples it has
            return cls(CELL, float(before.cell_ns), float(after.cell_ns))
        if both_plain and before.plain_ns is not None and after.plain_ns is not None:
            noise = _noise(before.plain_error_share, after.plain_error_share)
            return cls(PLAIN_STEP, before.plain_ns, after.plain_ns, noise, True)
        if before.step_ns is not None and after.step_ns is not None:
            noise = _noise(before.step_error_share, after.step_error_share)
            return cls(RECORDED_STEP, before.step_ns, after.step_ns, noise)
        return cls._whole(before, after)

    @classmethod
    def _of_unlike_batches(cls, before: Summary, after: Summary) -> Self:
        """Cells of as many samples as they are, else per sample, by the cell or the recorded steps."""
        cells = before.cell_ns, after.cell_ns
        samples = before.samples, after.samples
        if cells[0] and cells[1] and samples[0] and samples[1]:
            if not _unlike(*samples):
                return cls(CELL, float(cells[0]), float(cells[1]))
            return cls(RATE, cells[0] / samples[0], cells[1] / samples[1])
        if before.step_ns and after.step_ns and before.batch_size and after.batch_size:
            noise = _noise(before.step_error_share, after.step_error_share)
            return cls(RATE, before.step_ns / before.batch_size, after.step_ns / after.batch_size, noise)
        return cls._whole(before, after)

    @classmethod
    def _whole(cls, before: Summary, after: Summary) -> Self:
        if before.cell_ns is not None and after.cell_ns is not None:
            return cls(CELL, float(before.cell_ns), float(after.cell_ns))
        return cls(SPAN, float(before.span_ns), float(after.span_ns))


def _unlike(one: float | None, other: float | None) -> bool:
    """Whether two counts of samples, tokens or steps differ; unknown ones do not."""
    return bool(one and other) and abs(math.log((one or 1) / (other or 1))) > _ALIKE


def _noise(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else 2 * math.hypot(one, other)
