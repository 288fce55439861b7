"""Built runs with one fact to set, for the edges of the thresholds."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import PyplotFigures
from gpuprof.model.readings import DeviceProcess
from gpuprof.model.trace import Trace
from tests.rules.cases.device import device_shared
from tests.rules.cases.distributed import rank_straggler, uneven_device_memory
from tests.rules.cases.host import python_loop_over_batch, python_loop_over_weights
from tests.rules.cases.loading import slow_transform, workers_oversubscribed
from tests.rules.cases.memory import activations_dominate_peak
from tests.support.trace_builder import TraceBuilder


def late_rank(late_us: float) -> Any:
    return Results(rank_straggler.rank(0), (rank_straggler.rank(1, late_us, wait_us=late_us), rank_straggler.rank(2)))


def uneven(highest_gb: float, lowest_gb: float) -> Any:
    return Results(
        uneven_device_memory.rank(0, highest_gb),
        (uneven_device_memory.rank(1, lowest_gb), uneven_device_memory.rank(2, lowest_gb)),
    )


def oversubscribed(**facts: Any) -> Trace:
    return workers_oversubscribed.crowd(workers_oversubscribed.measured(), **facts)


def activations(kept_gib: float, stays_gib: float, limit_gib: float = 16) -> Trace:
    return activations_dominate_peak._steps(kept_gib, stays_gib=stays_gib, limit_gib=limit_gib)


def batch(size: int) -> Trace:
    return python_loop_over_batch.loops(size, sizes=(size, 8), batch_size=size)


def pyplot(left: int) -> PyplotFigures:
    return PyplotFigures(left=left, most=left)


def crowd(**facts: Any) -> Trace:
    return workers_oversubscribed.crowd(workers_oversubscribed.measured(**facts))


def shared(used_bytes: int) -> Trace:
    other = DeviceProcess(pid=7, used_bytes=used_bytes)
    return device_shared._run((other,), (device_shared.OWN, other))


def paced(every_us: float) -> Trace:
    """Kernels of 9 µs, each launched when the last one has ended."""
    builder = TraceBuilder().step(0, 100 * every_us).operator("aten::linear", 0, 100 * every_us)
    for number in range(100):
        at = number * every_us
        builder.kernel("add", at + every_us - 9, 9, launch_at_us=at, launch_for_us=1)
    return builder.build()


def fetched(cpu_share: float = 0.1, blocked: int = 200, resize_ms: float = 0.1) -> Trace:
    timed = slow_transform.timed(resize_ms=resize_ms, cpu_share=cpu_share, blocked=blocked)
    return slow_transform.loop(timed, workers=2, cores=3)


def averaged(turns: int = 12, **facts: Any) -> Trace:
    return python_loop_over_weights.steps(python_loop_over_weights.AVERAGE, turns, **facts)


def trips(idle_us: float) -> Trace:
    """A tensor goes to the host and comes back, in which the device computes nothing."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1_000):
        builder.step(at, 1000).kernel("gemm", at, 500, launch_at_us=at).operator("aten::to", at + 10, 500)
        builder.copy("d2h", at + 500, 5, host_memory="pageable", launch_at_us=at + 20).sync(at + 30, 478)
        builder.operator("aten::to", at + 511, idle_us - 6)
        builder.copy("h2d", at + 495 + idle_us, 5, host_memory="pageable", launch_at_us=at + 512)
        builder.kernel("gemm", at + 500 + idle_us, 500 - idle_us, launch_at_us=at + 513 + idle_us / 2)
    return builder.build()
