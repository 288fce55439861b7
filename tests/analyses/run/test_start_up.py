"""What of a recording is its start."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.start_up import StartUp
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def start_up(trace: Trace) -> StartUp:
    return Results(trace).get(StartUp)


def test_the_long_steps_at_the_beginning_are_warm_up() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 1)
    for at, length in ((0, 500), (500, 300), (800, 100), (900, 100), (1000, 400), (1400, 100)):
        builder.step(at, length)
    found = start_up(builder.build())
    assert (found.warm_up_steps, found.warm_up_ns) == (1, 500_000)
    assert found.warm_up_share == pytest.approx(1 / 3)


def test_only_first_calls_that_wait_for_nothing_count() -> None:
    builder = TraceBuilder().call("cudaMalloc", 0, 100).call("cudaMalloc", 100, 100).sync(200, 300)
    builder.kernel("gemm", 40, 20).operator("aten::mm", 0, 1000)
    found = start_up(builder.build())
    assert found.first_calls.total_ns == 80_000
    assert (found.first_calls_share, found.longest_call) == (pytest.approx(0.08), "cudaMalloc")


def test_the_first_launch_of_a_kernel_that_takes_far_longer_than_launches_loads_it() -> None:
    # GIVEN four kernels: the first launches of two take 500 µs, that of a third takes as long as any launch
    builder, at, seen = TraceBuilder().operator("aten::mm", 0, 4_000), 0.0, set[str]()
    for name in ("gemm", "gemm", "relu", "relu", "add", "gemm", "add"):
        takes = 500 if name in ("gemm", "relu") and name not in seen else 5
        seen.add(name)
        builder.kernel(name, at + takes, 10, launch_at_us=at, launch_for_us=takes)
        at += takes + 20
    found = start_up(builder.build())
    # THEN they are start-up, beside the first call of the function, which is one of them
    assert found.first_launches == 2
    assert found.first_calls.total_ns == 1_000_000
    assert found.longest_call == "cudaLaunchKernel"


@pytest.mark.parametrize(
    ("name", "first_us", "loads_us"),
    [
        ("aten::_cudnn_attention_forward", 450_000, 449_900),
        # not far longer than the others; too short to matter; one that copies
        ("aten::bmm", 900, 0),
        ("aten::mm", 4_000, 0),
        ("aten::copy_", 450_000, 0),
    ],
)
def test_the_first_call_of_an_operator_that_takes_far_longer_loads_its_library(
    name: str, first_us: int, loads_us: int
) -> None:
    builder = TraceBuilder().operator(name, 0, first_us)
    for at in range(3):
        builder.operator(name, 500_000 + at * 1_000, 100)
    found = start_up(builder.kernel("attention", first_us - 100, 100).build())
    assert found.first_calls.total_ns == loads_us * 1_000


def test_a_copy_that_begins_long_after_its_call_on_an_idle_device_waited_for_the_driver() -> None:
    builder = TraceBuilder().kernel("early", 0, 1_000, launch_at_us=0)
    builder.copy("h2d", 41_000, 490, launch_at_us=10).copy("h2d", 42_000, 490, launch_at_us=41_600)
    builder.kernel("long", 43_000, 20_000, launch_at_us=42_600).copy("h2d", 63_000, 490, launch_at_us=42_700)
    found = start_up(builder.build()).before_copies
    assert (found.starts.tolist(), found.ends.tolist()) == ([1_000_000], [41_000_000])


def test_the_recorded_cold_start_is_found(shared_trace: Any) -> None:
    """Creating the CUDA context took 36 of 43 s there (two calls of 29.9 and 6.0 s)."""
    results = Results(shared_trace("a100-alexnet-sync-events"))
    found = rule("cold_start_dominates").check(results)
    assert isinstance(found, Finding)
    assert found.evidence["longest_call"] == "cudaDeviceGetStreamPriorityRange"
    assert 35_900 < found.evidence["first_calls_ms"] < 43_424


def test_nothing_recorded_is_unknown(empty_trace: Trace) -> None:
    found = start_up(empty_trace)
    assert (found.warm_up_share, found.first_calls_share, found.longest_call) == (None, None, None)


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = start_up(trace)
    assert found.warm_up_share is None or 0 <= found.warm_up_share <= 1
    assert found.first_calls_share is None or 0 <= found.first_calls_share <= 1
