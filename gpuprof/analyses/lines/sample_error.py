"""How far a share of sampled time may be off by chance."""

from __future__ import annotations

import numpy as np

from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.units import NS_PER_S


def share_error(share: Array, total_ns: int, stacks: SampledStacks) -> Array:
    """The standard error of shares (0..1) of `total_ns`, in their shape: √(k·p·(1 − p)/n) with n samples.

    py-spy draws the time to its next sample from an exponential distribution, and a stack counts for the time until the
    next one. Such a weight has the variance of its mean squared, so k is 2. On five programs the root mean square of
    46 deviations from a stopwatch was 1.39 times the error with k = 1. The others look once in each period: k is 1.

    With few samples p may be 0 or 1 by chance. So the spread is that of (p·n + 1)/(n + 2), Laplace's rule of
    succession, and no sampled share is said to be exact.
    """
    samples = max(total_ns / NS_PER_S * stacks.rate_hz, 1.0)
    spread = 2.0 if stacks.how == "py-spy" else 1.0
    independent = samples / spread
    held = (np.clip(share, 0.0, 1.0) * independent + 1.0) / (independent + 2.0)
    error: Array = np.sqrt(held * (1 - held) / independent)
    return error
