"""Rates of memory-bound kernels and their share of the bandwidth."""

from __future__ import annotations

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.bandwidth import Bandwidth
from gpuprof.model.trace import Trace
from tests.analyses.efficiency.test_efficiency import A100, product
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder

MIB = 1 << 20


def bandwidth(trace: Trace) -> Bandwidth:
    return Results(trace).get(Bandwidth)


def adds(builder: TraceBuilder, at_us: float, for_us: float, *, dims: str | None = "[[4194304], [4194304]]"):
    """48 MiB of fp32: two inputs and the sum."""
    builder.operator("aten::add", at_us, 1, dims=dims, types='["float", "float"]')
    return builder.kernel(
        "vectorized_elementwise_kernel", at_us + 2, for_us, launch_at_us=at_us + 0.1, launch_for_us=0.5
    )


def test_one_sum_on_a_known_device() -> None:
    builder = adds(TraceBuilder().device(0, A100), 0, 50)
    found = bandwidth(adds(builder, 100, 50).build())
    ((shape),) = found.shapes
    assert (shape.operator, shape.shapes, shape.count) == ("aten::add", ((4194304,), (4194304,)), 2)
    assert (shape.bytes, shape.ns, found.bytes, found.ns) == (96 * MIB, 100_000, 96 * MIB, 100_000)
    assert shape.peak_share == found.peak_share == pytest.approx(96 * MIB / 100e-6 / 1555e9)
    assert found.covered_share == 1.0 and not shape.cached


def test_faster_than_the_memory_is_from_a_cache_and_not_in_the_sums() -> None:
    builder = adds(TraceBuilder().device(0, A100), 0, 50)
    found = bandwidth(adds(builder, 100, 10, dims="[[4194304], [1, 4194304]]").build())
    slow, fast = found.shapes
    assert fast.cached and fast.peak_share is None and not slow.cached
    assert found.bytes == slow.bytes and found.ns == slow.ns
    assert found.covered_share == 1.0


def test_an_unlisted_device_has_rates_and_no_shares() -> None:
    found = bandwidth(adds(TraceBuilder().device(0, "Test GPU"), 0, 50).build())
    assert found.bytes_per_s == pytest.approx(48 * MIB / 50e-6)
    assert found.peak_share is found.shapes[0].peak_share is None and not found.shapes[0].cached


def test_unknown_shapes_products_and_a_cpu_have_none() -> None:
    for trace in (
        adds(TraceBuilder().device(0, A100), 0, 50, dims=None).build(),
        product(TraceBuilder().device(0, A100), 0, 50).build(),
        TraceBuilder().operator("aten::add", 0, 10, dims="[[8], [8]]", types='["float", "float"]').build(),
    ):
        found = bandwidth(trace)
        assert found.shapes == () and found.bytes == 0 and found.peak_share is None and found.bytes_per_s is None


def test_other_kernels_lower_the_covered_share() -> None:
    builder = adds(TraceBuilder().device(0, A100), 0, 50)
    assert bandwidth(product(builder, 100, 150).build()).covered_share == 0.25


@given(runs())
def test_any_run(trace: Trace) -> None:
    found = bandwidth(trace)
    assert [each.ns for each in found.shapes] == sorted((each.ns for each in found.shapes), reverse=True)
    for each in (*found.shapes, found):
        assert each.peak_share is None or 0 <= each.peak_share <= 1


def test_recorded_runs_stay_below_the_bandwidth(any_shared_trace: Trace) -> None:
    found = bandwidth(any_shared_trace)
    assert found.peak_share is None or 0 < found.peak_share < 1
    assert found.covered_share is None or 0 <= found.covered_share <= 1
