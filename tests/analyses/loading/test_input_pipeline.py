"""Waits for data, on runs worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.model.loading import Loading
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def pipeline(trace: Trace) -> InputPipeline:
    return Results(trace).get(InputPipeline)


def test_a_run_without_a_loader_knows_nothing_of_waiting() -> None:
    found = pipeline(TraceBuilder().step(0, 100).operator("aten::mm", 0, 50).build())
    assert (found.wait_ns, found.wait_share, found.median_ns, found.in_process) == (None, None, None, None)


def test_waits_are_measured_inside_the_steps() -> None:
    """GIVEN two steps of 100 µs with waits of 20 and 40 µs, and a wait outside them."""
    builder = TraceBuilder().step(0, 100).step(100, 100)
    for at, length in ((0, 20), (100, 40), (250, 30)):
        builder.data_wait(at, length).operator("aten::stack", at, length)
    found = pipeline(builder.build())
    assert found.wait_ns == 60_000
    assert found.wait_share == 0.3
    assert found.median_ns == 30_000
    assert found.in_process is True


def test_waits_of_a_loop_outside_the_steps_are_kept_apart() -> None:
    """GIVEN ten waits of preparation before two steps with waits of 20 and 40 µs."""
    builder = TraceBuilder().step(1000, 100).step(1100, 100)
    for at, length in (*((at, 5) for at in range(0, 1000, 100)), (1000, 20), (1100, 40)):
        builder.data_wait(at, length).operator("aten::stack", at, length)
    found = pipeline(builder.build())
    assert (found.outside.sum(), found.batch.sum(), found.median_ns) == (10, 2, 30_000)


def test_the_exhausted_loader_is_no_batch() -> None:
    builder = TraceBuilder().data_wait(0, 20).operator("aten::mm", 30, 10).data_wait(50, 500, workers=2)
    found = pipeline(builder.build())
    assert found.ended.tolist() == [False, True]
    assert (found.ended_ns, found.batch.tolist()) == (500_000, [True, False])


def test_starting_workers_is_kept_apart() -> None:
    """GIVEN a first wait of 600 µs and later ones of 100 µs, after which the loader is iterated anew."""
    builder = TraceBuilder()
    for at, length in ((0, 600), (1000, 100), (2000, 100), (3000, 20), (4000, 90)):
        builder.data_wait(at, length, workers=2)
        if length != 20:
            builder.operator("aten::mm", at + length, 10)
    found = pipeline(builder.build())
    assert found.first.tolist() == [True, False, False, False, False]
    assert found.ended.tolist() == [False, False, False, True, False]
    assert found.first_ns == 600_000
    assert found.in_process is False


def test_only_idle_of_the_device_counts_as_stalled() -> None:
    """GIVEN a wait from 0 to 100 µs, during which a kernel runs from 20 to 60."""
    builder = (
        TraceBuilder().step(0, 200).data_wait(0, 100).operator("aten::stack", 0, 100).operator("aten::mm", 100, 90)
    )
    found = pipeline(builder.kernel("gemm", 20, 40, launch_at_us=1).build())
    assert found.device_idle_in_wait_ns == 60_000


def test_waits_of_other_threads_and_nested_ones_are_left_out() -> None:
    builder = TraceBuilder().data_wait(0, 50).data_wait(10, 20).operator("aten::stack", 0, 50)
    builder.operator("aten::mm", 60, 10).thread("prefetcher").data_wait(0, 70)
    assert pipeline(builder.build()).duration_ns.tolist() == [50_000]


def test_an_empty_trace_is_no_obstacle(empty_trace: Trace) -> None:
    assert pipeline(empty_trace).batch.tolist() == []


def test_never_waits_longer_than_the_steps(any_shared_trace: Any) -> None:
    found = pipeline(any_shared_trace)
    assert found.wait_ns is None or 0 <= found.wait_ns <= found.within_ns
    assert found.device_idle_in_wait_ns is None or found.device_idle_in_wait_ns <= (found.wait_ns or 0)


def test_what_timing_a_batch_takes_is_no_wait() -> None:
    """GIVEN ten waits of 20 µs, and four timed batches in which gpuprof itself took 3 µs each."""
    builder = TraceBuilder()
    for at in range(0, 1000, 100):
        builder.step(at, 100).data_wait(at, 20).operator("aten::stack", at, 20)
    four = Loading(
        dataset="Photos",
        source="Photos",
        dataset_samples=40,
        batches=4,
        samples=16,
        processes=1,
        sample_ns=60_000,
        collate_ns=0,
        cpu_ns=60_000,
        own_ns=12_000,
    )
    found = pipeline(builder.context(loadings=(four,)).build())
    assert (found.wait_ns, found.median_ns) == (188_000, 20_000)
    found = pipeline(builder.context(loadings=(msgspec.structs.replace(four, batches=10, own_ns=30_000),)).build())
    assert (found.wait_ns, found.median_ns, found.wait_share, found.own_each_ns) == (170_000, 17_000, 0.17, 3_000)


def test_a_few_timings_that_last_long_do_not_take_the_median_wait_away():
    # GIVEN nine waits of 20 µs and one of 820, of whose 1,000 µs the timing took 400: 40 a batch
    builder = TraceBuilder()
    for i in range(10):
        builder.step(i * 1000, 1000).data_wait(i * 1000, 820 if i == 9 else 20)
        builder.operator("aten::mm", i * 1000 + 900, 9)
    timed = {"dataset_samples": 40, "batches": 10, "samples": 40, "processes": 1, "own_ns": 400_000}
    loading = Loading(dataset="Rows", source="Rows", sample_ns=0, collate_ns=0, cpu_ns=0, **timed)
    # THEN it took its part of the median wait, not all of it
    assert pipeline(builder.context(loadings=(loading,)).build()).median_ns == 12_000


def test_what_handing_over_takes_of_the_waits_for_workers():
    def share(waits_ms: tuple[float, ...], workers: int) -> float | None:
        builder = TraceBuilder()
        for number, wait_ms in enumerate(waits_ms):
            at = number * 100_000
            builder.step(at, 100_000).data_wait(at, wait_ms * 1000, workers=workers)
            builder.operator("aten::mm", at + 80_000, 100)
        return Results(builder.build()).get(InputPipeline).handover_share

    # GIVEN batches that are ready, and workers too slow, of whose batches every fourth is waited for
    assert share((2.0, 2.5, 2.0, 2.0, 2.5, 4.0), 2) == pytest.approx(14 / 15)
    assert share((0.1, 0.1, 0.1, 20.0) * 5, 4) == pytest.approx(3.3 / 20.3)
    # THEN only the former is mostly handing over; a loop that makes its own batches hands over none
    assert share((2.0,) * 6, 0) is None
