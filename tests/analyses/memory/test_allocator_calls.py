"""The driver's memory calls in steady steps."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.allocator_calls import AllocatorCalls
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def of(builder: TraceBuilder) -> AllocatorCalls:
    return Results(builder.build()).get(AllocatorCalls)


def test_the_first_step_is_left_out() -> None:
    builder = TraceBuilder()
    for at in (0, 100, 200):
        builder.step(at, 100).operator("aten::empty", at, 50).call("cudaMalloc", at, 10)
    calls = of(builder)
    assert (calls.steps, calls.steps_with, calls.allocations, calls.frees) == (2, 2, 2, 0)
    assert (calls.host.total_ns, calls.everywhere_ns, calls.within.total_ns) == (20_000, 30_000, 200_000)


def test_host_memory_and_stream_ordered_calls_do_not_count() -> None:
    builder = TraceBuilder().step(0, 100).step(100, 100).call("cudaHostAlloc", 110, 5).call("cudaFreeHost", 120, 5)
    assert of(builder.call("cudaMallocAsync", 130, 5).call("cudaFreeAsync", 140, 5)).everywhere_ns == 0


def test_frees_outside_operators_come_in_bursts() -> None:
    builder = TraceBuilder().step(0, 100).step(100, 100)
    builder.call("cudaFree", 110, 2).call("cudaFree", 113, 2).call("cudaEventQuery", 116, 1).call("cudaFree", 118, 2)
    builder.call("cudaLaunchKernel", 125, 5).call("cudaFree", 140, 2)
    calls = of(builder)
    assert (calls.frees, calls.frees_outside, calls.frees_alone, calls.bursts) == (4, 4, 0, 2)


def test_a_free_after_an_allocation_of_the_same_operator_makes_room() -> None:
    """GIVEN one operator whose allocation failed at first, and one that only frees."""
    builder = TraceBuilder().step(0, 100).step(100, 100)
    builder.operator("aten::empty", 100, 40).call("cudaMalloc", 101, 5).call("cudaFree", 110, 5)
    builder.call("cudaMalloc", 120, 5).operator("ReluBackward0", 150, 20).call("cudaFree", 155, 5)
    calls = of(builder)
    assert (calls.frees, calls.frees_outside, calls.frees_alone) == (2, 0, 1)


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    calls = Results(empty_trace).get(AllocatorCalls)
    assert (calls.everywhere_ns, calls.steps, calls.bursts, calls.host.total_ns) == (0, 0, 0, 0)


def test_the_first_operator_of_a_run_frees_like_any_other() -> None:
    builder = TraceBuilder().operator("ReluBackward0", 0, 200).step(0, 100).step(100, 100)
    assert of(builder.call("cudaFree", 155, 5)).frees_alone == 1


def test_an_allocation_at_the_instant_of_a_free_came_before_it() -> None:
    builder = TraceBuilder().step(0, 100).step(100, 100).operator("aten::empty", 100, 40)
    assert of(builder.call("cudaMalloc", 110, 5).call("cudaFree", 110, 5)).frees_alone == 0
