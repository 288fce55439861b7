"""Launch overhead, latency, queue depth, and whether the clock can be trusted."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.launches import Launches
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def launches(trace: Trace) -> Launches:
    return Results(trace).get(Launches)


def test_counts_launches_with_and_without_a_kernel():
    trace = (
        TraceBuilder()
        .kernel("a", 10, 5, launch_at_us=0)
        .call("cudaLaunchKernel", 20, 7)
        .memset(40, 5, launch_at_us=30)
        .build()
    )
    found = launches(trace)
    assert (found.launches, found.with_kernel, found.launches_with_kernel_share) == (2, 1, 0.5)
    assert found.overhead_median_ns == 6_000


def test_share_is_unknown_where_no_device_event_was_recorded():
    found = launches(TraceBuilder().call("cudaLaunchKernel", 20, 7).build())
    assert found.launches == 1
    assert (found.launches_with_kernel_share, found.clock_ok, found.queue_depth_median) == (None, None, None)


def test_queue_depth_is_work_launched_and_not_finished():
    builder = TraceBuilder()
    for i, begin in enumerate((10, 40, 70)):
        builder.kernel("k", begin, 30, launch_at_us=6 * i)
    assert launches(builder.build()).queue_depth_median == 1
    drained = TraceBuilder().kernel("a", 10, 5, launch_at_us=0).kernel("b", 30, 5, launch_at_us=20)
    assert launches(drained.build()).queue_depth_median == 0


def test_a_graph_launch_is_one_launch():
    builder = TraceBuilder().call("cudaGraphLaunch", 0, 8, correlation=77)
    found = launches(builder.kernel("a", 10, 5, correlation=77).kernel("b", 16, 5, correlation=77).build())
    assert (found.launches, found.with_kernel) == (1, 1)


def test_kernels_before_their_launch_break_the_clock():
    assert launches(TraceBuilder().kernel("a", 20, 5, launch_at_us=29).build()).clock_ok is True
    broken = launches(TraceBuilder().kernel("a", 20, 5, launch_at_us=31).build())
    assert (broken.clock_ok, broken.kernels_before_launch) == (False, 1)


def test_median_kernel_leaves_collectives_out():
    builder = TraceBuilder().kernel("a", 0, 4).kernel("b", 10, 6).kernel("ncclKernel", 20, 900)
    assert launches(builder.build()).median_kernel_ns == 5_000


@given(runs())
def test_no_run_breaks_it(trace: Trace):
    found = launches(trace)
    assert 0 <= found.with_kernel <= found.launches


def test_tiny_kernels_leave_the_queue_empty(shared_trace: Any):
    tiny, healthy = (
        launches(shared_trace(name)) for name in ("h100-transformer-tiny-kernels", "a100-ddp-rank3-healthy")
    )
    assert tiny.queue_depth_median == 0
    assert tiny.median_kernel_ns is not None and tiny.median_kernel_ns < 10_000
    assert healthy.queue_depth_median is not None and healthy.queue_depth_median > 10


def test_clock_of_every_shared_trace(any_shared_trace: Any):
    assert launches(any_shared_trace).clock_ok in (True, None)
