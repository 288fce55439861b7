"""Achieved rates, shares of peaks, and what is left unknown."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.efficiency import Efficiency
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder

A100 = "NVIDIA A100-SXM4-40GB"
BF16, FP32 = '["c10::BFloat16", "c10::BFloat16"]', '["float", "float"]'
SQUARE = "[[4096, 4096], [4096, 4096]]"
FLOPS = 2 * 4096**3


def efficiency(trace: Trace) -> Efficiency:
    return Results(trace).get(Efficiency)


def product(
    builder: TraceBuilder,
    at_us: float,
    for_us: float,
    *,
    name: str = "ampere_bf16_s16816gemm_bf16_128x128",
    dims: str | None = SQUARE,
    types: str = BF16,
    operator: str = "aten::mm",
) -> TraceBuilder:
    """A product of 1 µs on the host, whose kernel starts 2 µs later."""
    builder.operator(operator, at_us, 1, dims=dims, types=types)
    return builder.kernel(name, at_us + 2, for_us, launch_at_us=at_us + 0.1, launch_for_us=0.5)


def check(trace: Trace, most: float | None = None) -> None:
    """What holds on every trace."""
    found = efficiency(trace)
    assert sum(each.flops for each in found.shapes) == found.flops == sum(flops for _, flops in found.flops_by_format)
    assert [each.ns for each in found.shapes] == sorted((each.ns for each in found.shapes), reverse=True)
    assert found.running_ns <= sum(each.ns for each in found.shapes)
    assert found.on_device or not any(each.peak_flops_per_s for each in found.shapes)
    assert found.missing in (None, "shapes", "numbers", "device activity")
    for share in (found.covered_share, found.covered_product_share):
        assert share is None or share >= 0
    if most is not None:
        for each in (*found.shapes, found):
            assert each.peak_share is None or each.peak_share <= most, each
        assert found.mfu is None or found.mfu <= most


def test_one_product_on_a_known_device() -> None:
    found = efficiency(product(TraceBuilder().device(0, A100), 0, 998).build())
    shape = found.shapes[0]
    assert (shape.operator, shape.number_format, shape.count, shape.flops, shape.ns) == (
        "aten::mm", NumberFormat.BF16, 1, FLOPS, 998_000,
    )  # fmt: skip
    assert shape.shapes == ((4096, 4096), (4096, 4096))
    assert shape.flops_per_s == pytest.approx(FLOPS / 998e-6)
    for share in (shape.peak_share, found.peak_share, found.busy_peak_share):
        assert share == pytest.approx(FLOPS / 998e-6 / 312e12)
    assert found.mfu == pytest.approx(FLOPS / 1000e-6 / 312e12)
    assert found.span_flops_per_s == pytest.approx(FLOPS / 1000e-6)
    assert found.busy_flops_per_s == pytest.approx(FLOPS / 998e-6)
    assert (found.covered_share, found.covered_product_share, found.missing) == (1.0, 1.0, None)
    assert (found.iteration_flops, found.uses_device_well, found.on_device) == (None, False, True)


def test_an_unknown_device_has_rates_but_no_peak() -> None:
    found = efficiency(product(TraceBuilder().device(0, "Test GPU"), 0, 998).build())
    assert found.flops == FLOPS and found.span_flops_per_s
    assert (found.shapes[0].peak_share, found.peak_share, found.mfu, found.uses_device_well) == (None,) * 4


def test_tf32_and_fp32_of_one_shape_are_apart_and_each_has_its_peak() -> None:
    builder = TraceBuilder().device(0, A100)
    product(builder, 0, 1500, name="ampere_s1688gemm_tf32", types=FP32)
    product(builder, 2000, 8000, name="ampere_sgemm_128x64", types=FP32)
    found = efficiency(builder.build())
    assert [(each.number_format, each.ns) for each in found.shapes] == [
        (NumberFormat.FP32, 8_000_000),
        (NumberFormat.TF32, 1_500_000),
    ]
    ideal_s = FLOPS / 19.5e12 + FLOPS / 156e12
    assert found.peak_share == pytest.approx(ideal_s / 9500e-6)
    assert found.mfu == pytest.approx(ideal_s / 10_002e-6)


def test_a_format_that_no_name_tells_leaves_shares_unknown() -> None:
    builder = product(TraceBuilder().device(0, A100), 0, 998, name="gemm_kernel", types=FP32)
    assert efficiency(builder.build()).mfu is None
    small = "[[16, 16], [16, 16]]"
    product(builder, 2000, 998)
    assert efficiency(builder.build()).mfu is None
    builder = product(TraceBuilder().device(0, A100), 0, 998, name="gemm_kernel", types=FP32, dims=small)
    assert efficiency(product(builder, 2000, 998).build()).mfu is not None


def test_where_most_products_have_no_shapes_there_is_no_utilization() -> None:
    builder = product(TraceBuilder().device(0, A100), 0, 900)
    product(builder, 1000, 100, dims=None)
    found = efficiency(builder.build())
    assert (found.covered_product_share, found.missing) == (0.9, "shapes") and found.mfu is not None
    product(builder, 2000, 10, dims=None)
    found = efficiency(builder.build())
    assert (found.peak_share, found.mfu, found.busy_peak_share) == (None, None, None)
    assert found.shapes[0].peak_share is not None


def test_other_kernels_are_not_covered_and_helpers_of_a_product_are() -> None:
    builder = product(TraceBuilder().device(0, A100), 0, 600)
    builder.kernel("splitKreduce_kernel", 610, 100, launch_at_us=0.7, launch_for_us=0.2)
    builder.operator("aten::add", 5, 1).kernel("elementwise_kernel", 720, 300, launch_at_us=5.1, launch_for_us=0.2)
    found = efficiency(builder.build())
    assert (found.shapes[0].ns, found.covered_share, found.covered_product_share) == (700_000, 0.7, 1.0)


def test_products_at_the_same_time_add_up_but_run_once() -> None:
    builder = TraceBuilder().device(0, A100)
    for number in range(2):
        builder.operator("aten::mm", number * 2, 1, dims=SQUARE, types=BF16)
        builder.kernel("bf16_gemm", 10, 1000, stream=7 + number, launch_at_us=number * 2 + 0.1, launch_for_us=0.2)
    found = efficiency(builder.build())
    assert (found.shapes[0].count, found.shapes[0].ns, found.running_ns) == (2, 2_000_000, 1_000_000)
    assert found.peak_share == pytest.approx(2 * FLOPS / 1000e-6 / 312e12)


def test_operations_of_a_step_and_of_an_iteration() -> None:
    builder = TraceBuilder().device(0, A100).step(0, 1000).step(1000, 1000)
    product(product(builder, 10, 300), 1010, 300)
    product(builder, 1400, 300)
    assert efficiency(builder.build()).iteration_flops == 1.5 * FLOPS
    ranges = TraceBuilder().device(0, A100)
    for number in range(6):
        ranges.span(f"iteration_{number}", number * 1000, 900)
        product(ranges, number * 1000 + 10, 300)
    product(ranges, 5950, 20)
    assert efficiency(ranges.build()).iteration_flops == FLOPS


@pytest.mark.parametrize(("for_us", "well"), [(700, True), (740, False)])
def test_a_busy_device_near_its_peak_is_used_well(for_us: float, well: bool) -> None:
    found = efficiency(product(TraceBuilder().device(0, A100), 0, for_us).build())
    assert (found.busy_share or 0) > 0.9
    assert found.uses_device_well is well is ((found.busy_peak_share or 0) >= 0.6)


def test_an_idle_device_is_not_used_well() -> None:
    builder = product(TraceBuilder().device(0, A100), 0, 500)
    assert efficiency(product(builder, 2000, 500).build()).uses_device_well is False


def test_without_a_device_rates_are_those_of_operators() -> None:
    builder = (
        TraceBuilder()
        .operator("aten::linear", 0, 100)
        .operator("aten::addmm", 10, 80, dims="[[7], [3, 5], [5, 7]]", types='["float", "float", "float"]')
    )
    found = efficiency(builder.operator("aten::add", 200, 100).build())
    assert (found.on_device, found.flops, found.running_ns, found.covered_share) == (False, 210, 80_000, 0.4)
    assert found.shapes[0].flops_per_s == pytest.approx(210 / 80e-6)
    assert (found.shapes[0].number_format, found.shapes[0].peak_flops_per_s) == (NumberFormat.FP32, None)
    assert (found.mfu, found.peak_share, found.busy_flops_per_s, found.uses_device_well) == (None,) * 4


@pytest.mark.parametrize("facts", [{"source": {"unread": "mtia"}}, {"trace": {"device_recorded": False}}])
def test_where_the_device_was_not_read_host_times_say_nothing(facts: dict[str, Any]) -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100, dims=SQUARE, types=BF16)
    for method, fields in facts.items():
        getattr(builder, method)(**fields)
    found = efficiency(builder.build())
    assert (found.shapes, found.missing, found.flops) == ((), "device activity", 0)


def test_what_is_missing_is_named() -> None:
    assert efficiency(product(TraceBuilder(), 0, 100, dims=None).build()).missing == "shapes"
    convolution = product(TraceBuilder(), 0, 100, dims="[[1, 2, 8, 8], [2, 2, 3, 3]]", operator="aten::convolution")
    assert efficiency(convolution.build()).missing == "numbers"


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    found = efficiency(empty_trace)
    assert (found.shapes, found.flops, found.missing, found.mfu) == ((), 0, None, None)


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 64), st.integers(10, 900)), min_size=1, max_size=8))
def test_twice_the_time_is_half_the_rate(products: list[tuple[int, int, int]]) -> None:
    def run(scale: int) -> Efficiency:
        builder = TraceBuilder().device(0, A100)
        for number, (rows, columns, for_us) in enumerate(products):
            dims = f"[[{rows}, 128], [128, {columns}]]"
            product(builder, number * 4000 * scale, for_us * scale, dims=dims)
        trace = builder.build()
        check(trace)
        return efficiency(trace)

    once, twice = run(1), run(2)
    assert once.flops == twice.flops == sum(2 * 128 * rows * columns for rows, columns, _ in products)
    assert twice.peak_share == pytest.approx((once.peak_share or 0) / 2)
    assert twice.busy_flops_per_s == pytest.approx((once.busy_flops_per_s or 0) / 2)
    rates = [{(each.shapes, each.count): each.flops_per_s for each in run.shapes} for run in (once, twice)]
    for key, rate in rates[0].items():
        assert rates[1][key] == pytest.approx((rate or 0) / 2)


@given(runs())
def test_what_holds_holds_for_any_run(trace: Trace) -> None:
    check(trace)


def test_no_recording_beats_its_peak(any_shared_trace: Trace) -> None:
    check(any_shared_trace, most=1.02)
