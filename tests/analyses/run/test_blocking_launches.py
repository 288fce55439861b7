"""Launches that wait for their kernel."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.blocking_launches import BlockingLaunches
from gpuprof.model.intervals import EMPTY
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_a_launch_blocks_that_returns_after_its_kernel() -> None:
    builder = TraceBuilder().kernel("gemm", 4, 10, launch_at_us=0, launch_for_us=14)
    builder.kernel("gemm", 24, 10, launch_at_us=20, launch_for_us=13).kernel("gemm", 50, 10)
    blocking = Results(builder.build()).get(BlockingLaunches)
    assert (blocking.launches, blocking.blocking_share) == (2, 0.5)
    assert (blocking.waits.starts.tolist(), blocking.waits.ends.tolist()) == ([0], [14_000])


def test_copies_are_left_out() -> None:
    builder = TraceBuilder().copy("h2d", 5, 10, launch_at_us=0, launch_for_us=30)
    assert Results(builder.build()).get(BlockingLaunches).blocking_share is None


def test_nothing_recorded_is_unknown(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(BlockingLaunches).blocking_share is None


@pytest.mark.parametrize(
    ("launches", "share", "mostly"), [(40, 0.9, True), (39, 0.9, False), (40, 0.89, False), (40, None, False)]
)
def test_nearly_all_of_enough_launches_have_to_block(launches: int, share: float | None, mostly: bool) -> None:
    assert BlockingLaunches(launches, share, EMPTY).mostly is mostly
