"""Corners of the analyses and rules that were first seen in public recordings."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition
from gpuprof.analyses.transfers.copy_round_trips import LEAST_BYTES, CopyRoundTrips
from gpuprof.model.kinds import CallKind
from gpuprof.report import Report
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.distributed.exposed_collective import ExposedCollective
from gpuprof.rules.registry import all_rules
from tests.support.trace_builder import TraceBuilder


def test_a_copy_to_the_device_before_the_one_back_is_not_its_return() -> None:
    builder = TraceBuilder().step(0, 100)
    builder.operator("aten::to", 0, 4).copy("h2d", 2, 3, bytes=LEAST_BYTES, launch_at_us=1, launch_for_us=1)
    builder.operator("aten::to", 5, 20).copy("d2h", 8, 9, bytes=LEAST_BYTES, launch_at_us=6, launch_for_us=1).sync(
        8, 11
    )
    builder.operator("aten::to", 40, 20).copy("h2d", 45, 10, bytes=LEAST_BYTES, launch_at_us=41, launch_for_us=2)
    trips = Results(builder.build()).get(CopyRoundTrips)
    assert (trips.out.tolist(), trips.back.tolist()) == ([1], [2])


def test_where_only_changes_are_known_nothing_is_called_unused() -> None:
    builder = TraceBuilder().device(0, memory_bytes=1 << 30).operator("aten::linear", 0, 100)
    builder.memory(10, 64 << 20, address=1).memory(50, -(64 << 20), address=1)
    part = Results(builder.build()).get(MemoryComposition).primary
    assert part is not None and part.unused_reserved_bytes is None


def test_first_calls_that_take_most_of_a_run_without_steps_are_said_to_be_a_cold_start() -> None:
    builder = TraceBuilder().operator("aten::to", 0, 1000)
    builder.call("cudaMalloc", 0, 900, kind=CallKind.OTHER).kernel("gemm", 960, 30, launch_at_us=950)
    found = next(each for each in all_rules() if each.name == "cold_start_dominates").check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert found.title.startswith("Loading libraries and kernels takes 9")
    assert found.evidence["longest_call"] == "cudaMalloc"


def test_many_short_collectives_are_called_that() -> None:
    builder = TraceBuilder()
    for at in (0, 10_000, 20_000):
        builder.step(at, 10_000).kernel("gemm", at, 5000, launch_at_us=at)
        for number in range(120):
            builder.kernel("ncclDevKernel_AllReduce_Sum_f32(args)", at + 5000 + 40 * number, 30, stream=9)
    found = ExposedCollective().check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert "They are many and short (120 per step, half of them under 30.0 µs)" in found.explanation


def test_a_device_that_idles_with_launches_waiting_is_not_bound_by_them() -> None:
    """Launched far ahead, run back to back, then nothing: the host is not late, the work is over."""
    builder = TraceBuilder().operator("aten::linear", 0, 10_000)
    for number in range(200):
        builder.kernel("add", 1100 + 6 * number, 6, launch_at_us=5 * number, launch_for_us=3, blocks=64)
    trace = builder.sync(9900, 100).build()
    assert next(each for each in all_rules() if each.name == "launch_bound").check(Results(trace)) is None


def test_slow_kernels_that_run_for_little_of_the_time_are_of_low_severity() -> None:
    """Most of the kernel time, but hardly any of the run, whose device waits for data."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-40GB")
    for at in range(0, 500_000, 100_000):
        builder.step(at, 100_000).data_wait(at, 97_000).operator("aten::mm", at + 97_100, 2_800)
        builder.kernel("dgemm_double_128x64", at + 97_200, 2_500, launch_at_us=at + 97_110, blocks=400)
    found = next(each for each in all_rules() if each.name == "float64_compute").check(Results(builder.build()))
    assert isinstance(found, Finding) and found.severity is Severity.LOW


@pytest.mark.parametrize("loaded", [(), (3, 4)])
def test_of_several_ranks_it_is_said_whose_the_figures_are(loaded: tuple[int, ...]) -> None:
    trace = TraceBuilder().source(rank=3).step(0, 10).operator("aten::mm", 0, 10).build()
    notes = [note for note in Report.of(trace, loaded).trust.notes if "ranks were loaded" in note]
    assert notes == (["2 ranks were loaded; figures that name no rank are those of rank 3."] if loaded else [])


def test_the_curve_of_a_long_run_keeps_its_peak() -> None:
    from gpuprof.views.static_png.draw import WIDTH, _thinned

    times = np.arange(100_000)
    held = np.where(times == 77_777, 9, 1)
    thin, kept = _thinned(times, held)
    assert len(thin) <= 2 * WIDTH + 2 and kept.max() == 9
