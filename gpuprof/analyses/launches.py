"""Launches: what they cost the host, how soon the device began, and whether the links can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.result import Result

CLOCK_TOLERANCE_NS = 10_000


@dataclass(frozen=True)
class Launches(Result):
    """Figures of all kernel launches (graph launches included); None where nothing tells.

    `launches`: calls that launch kernels; `with_kernel`: those with at least one device event;
    `launches_with_kernel_share` their quotient, 0..1, None without launches or without any device event.
    `overhead_median_ns`: median host duration of a launch. `latency_median_ns`: median of kernel begin − launch begin
    over launches that found their stream idle. `queue_depth_median`: median number of device events that were launched
    but not finished when a launch began (0: the device had nothing left to do). `median_kernel_ns`: of all kernels
    that are not collectives. `kernels_before_launch`: device events that begin more than CLOCK_TOLERANCE_NS before
    their launch; `clock_ok` is whether there are none, None where no event has a launch.
    """

    launches: int
    with_kernel: int
    launches_with_kernel_share: float | None
    overhead_median_ns: int | None
    latency_median_ns: int | None
    queue_depth_median: float | None
    median_kernel_ns: int | None
    kernels_before_launch: int
    clock_ok: bool | None
