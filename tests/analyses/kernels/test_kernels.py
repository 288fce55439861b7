"""Kernels by name, category, precision, occupancy, waves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.model.kernel_names import KernelCategory, Precision
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def kernels(trace: Trace) -> Kernels:
    return Results(trace).get(Kernels)


def test_one_row_a_name_longest_first():
    builder = TraceBuilder().kernel("volta_sgemm_64x64_nn", 0, 10).kernel("vectorized_elementwise_kernel", 20, 30)
    trace = builder.kernel("volta_sgemm_64x64_nn", 60, 40).kernel("volta_sgemm_64x64_nn", 110, 15).build()
    table = kernels(trace).table
    assert trace.names_of(table).tolist() == ["volta_sgemm_64x64_nn", "vectorized_elementwise_kernel"]
    assert table["count"].tolist() == [3, 1]
    assert table["total_ns"].tolist() == [65_000, 30_000]
    assert table["median_ns"].tolist() == [15_000, 30_000]
    assert table["category"].tolist() == [KernelCategory.GEMM, KernelCategory.ELEMENTWISE]
    assert table["precision"].tolist() == [Precision.FP32, Precision.UNKNOWN]


def test_totals_by_precision():
    builder = TraceBuilder().kernel("volta_sgemm_64x64_nn", 0, 10).kernel("ampere_bf16_s16816gemm_bf16_tn", 20, 30)
    found = kernels(builder.kernel("reduce_kernel<float>", 60, 5).copy("h2d", 70, 100).build())
    assert found.count == 3
    assert found.by_precision == {Precision.FP32: 10_000, Precision.REDUCED: 30_000}
    assert found.small_share == pytest.approx(1 / 3)


def test_a_collective_is_one_whatever_its_name():
    found = kernels(TraceBuilder().kernel("my_exchange", 0, 10, collective=True).build())
    assert found.table["category"].tolist() == [KernelCategory.COLLECTIVE]


def test_occupancy_and_waves_are_weighted_by_time():
    builder = TraceBuilder().device(0, multiprocessors=10, max_threads_per_multiprocessor=1000)
    builder.kernel("a", 0, 30, blocks=20, block_threads=100, occupancy_percent=20)
    builder.kernel("a", 40, 10, blocks=100, block_threads=100, occupancy_percent=100).kernel("b", 60, 1000)
    found = kernels(builder.build())
    assert found.occupancy_percent == pytest.approx(40)
    assert found.waves == pytest.approx((0.2 * 30 + 1.0 * 10) / 40)
    assert np.isnan(found.table["waves"]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("name", "blocks", "occupancy", "waves"),
    [
        ("void at::native::vectorized_elementwise_kernel<4>", 80, 80, 0.8),
        ("void at::native::vectorized_elementwise_kernel<4>", 20, 10, 2.0),
        ("void at::native::vectorized_elementwise_kernel<4>", 1, 0, 0.01),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 10, 10, 1.0),
        ("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 4, 4, 0.4),
    ],
)
def test_a_wave_is_what_the_device_holds_at_once(name: str, blocks: int, occupancy: float, waves: float):
    """GIVEN 10 multiprocessors of 1,000 threads, blocks of 100: held are 100 by threads alone, 10 where the occupancy
    of 20 blocks is that of 10, and of a product that may fill a multiprocessor with one block 10 as well."""
    builder = TraceBuilder().device(0, multiprocessors=10, max_threads_per_multiprocessor=1000)
    builder.kernel(name, 0, 30, blocks=blocks, block_threads=100, occupancy_percent=occupancy)
    assert kernels(builder.build()).waves == pytest.approx(waves)


def test_waves_are_unknown_without_the_device_properties():
    found = kernels(TraceBuilder().kernel("a", 0, 30, blocks=20, block_threads=100).build())
    assert (found.waves, found.occupancy_percent) == (None, None)


def test_no_kernel_says_nothing():
    found = kernels(TraceBuilder().copy("h2d", 0, 5).build())
    assert (found.count, found.small_share, found.waves, len(found.table)) == (0, None, None, 0)


@given(runs())
def test_no_run_breaks_it(trace: Trace):
    found = kernels(trace)
    assert found.total_ns == int(found.table["total_ns"].sum())


def test_precision_of_the_recorded_runs(shared_trace: Any):
    # The 2021 resnet50 ran in fp32 on a V100, which has no TF32.
    found = kernels(shared_trace("v100-resnet50-workers0"))
    assert set(found.by_precision) <= {Precision.FP32, Precision.UNKNOWN}
    assert found.by_precision[Precision.FP32] > 0.9 * sum(found.by_precision.values())
