"""Idle time of the device while the host launches a part of the step: what many small launches cost besides their
kernels."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals

# what the host causes by launching late
HOST_CAUSES = ("idle_host", "idle_launch")


def waits_for_launches(results: Results) -> Intervals:
    """When the device waits for the host and its launches, a union; EMPTY without a device."""
    parts = results.get(DeviceIdle).parts
    return intervals.joined(*(parts[cause] for cause in HOST_CAUSES if cause in parts))


def launch_waits(results: Results, host: Intervals) -> Intervals:
    """The part of it in which the host is in `host`, any intervals."""
    return intervals.intersect(waits_for_launches(results), intervals.union(host))
