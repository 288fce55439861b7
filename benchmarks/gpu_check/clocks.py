"""Stopwatches for the host and the device, and the statistics of what they read."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any


def synchronize(device: str) -> None:
    """Wait until the device has done everything."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def host_ns(work: Callable[[], Any], device: str, *, wait: bool = True) -> int:
    """How long `work` takes by the host's clock, waiting for the device before it, and after it where `wait`."""
    synchronize(device)
    began = time.perf_counter_ns()
    work()
    if wait:
        synchronize(device)
    taken = time.perf_counter_ns() - began
    synchronize(device)
    return taken


def device_ns(work: Callable[[], Any], device: str) -> float:
    """How long the device takes for it, between two events on its stream; the host's clock where there is none."""
    if device != "cuda":
        return float(host_ns(work, device))
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) * 1e6


def repeated(measure: Callable[[], float], times: int, *, warm: int = 2) -> dict[str, float]:
    """Least, median and quartiles of `times` readings, after `warm` that do not count."""
    for _ in range(warm):
        measure()
    return spread([measure() for _ in range(times)])


def spread(values: Sequence[float]) -> dict[str, float]:
    """Least, quartiles, most and how many."""
    if not values:
        return {"count": 0}
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else (values[0],) * 3
    return {"least": min(values), "q1": low, "median": middle, "q3": high, "most": max(values), "count": len(values)}
