"""Tensors that leave the device and come back."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copy_round_trips import LEAST_BYTES, CopyRoundTrips
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def _trip(builder: TraceBuilder, at: float = 0, *, wait: bool = True, bytes: int = LEAST_BYTES) -> TraceBuilder:
    """Out in 0 to 10 µs, back in 30 to 40."""
    builder.operator("aten::to", at, 14).copy("d2h", at + 1, 9, bytes=bytes, launch_at_us=at, launch_for_us=1)
    if wait:
        builder.sync(at + 2, 11)
    builder.operator("aten::to", at + 25, 20)
    return builder.copy("h2d", at + 30, 10, bytes=bytes, launch_at_us=at + 26, launch_for_us=2)


def of(builder: TraceBuilder) -> CopyRoundTrips:
    return Results(builder.build()).get(CopyRoundTrips)


def test_a_round_trip_costs_until_the_tensor_is_back() -> None:
    trips = of(_trip(TraceBuilder().step(0, 100).kernel("gemm", 0, 5)))
    assert (trips.out.tolist(), trips.back.tolist(), trips.steps_with, trips.habit) == ([0], [1], 1, True)
    assert trips.cost.total_ns == 35_000


@pytest.mark.parametrize(
    "builder",
    [
        _trip(TraceBuilder().step(0, 100), wait=False),
        _trip(TraceBuilder().step(0, 100), bytes=LEAST_BYTES - 1),
        _trip(TraceBuilder().step(0, 20).step(20, 100)),
        _trip(TraceBuilder().step(0, 100).data_wait(16, 5)),
        _trip(TraceBuilder().step(0, 100)).trace(steps_from="Optimizer"),
    ],
    ids=["not waited for", "small", "in two steps", "a batch between", "steps of an optimizer"],
)
def test_what_only_looks_like_one_is_none(builder: TraceBuilder) -> None:
    assert not len(of(builder).out)


def test_one_step_in_ten_is_no_habit() -> None:
    builder = _trip(TraceBuilder())
    for at in range(0, 1000, 100):
        builder.step(at, 100)
    assert (of(builder).steps_with, of(builder).habit) == (1, False)


def test_nothing_recorded_gives_nothing(empty_trace: Trace) -> None:
    trips = Results(empty_trace).get(CopyRoundTrips)
    assert (len(trips.out), trips.habit, trips.cost.total_ns) == (0, False, 0)
