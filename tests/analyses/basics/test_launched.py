"""What a part of the host's time launches."""

from __future__ import annotations

from gpuprof.analyses.basics.launched import launched_in
from gpuprof.model import intervals
from tests.support.trace_builder import TraceBuilder


def test_it_looks_at_when_the_launch_begins() -> None:
    builder = TraceBuilder()
    for at in (0, 30, 60):
        builder.kernel("k", at + 100, 10, launch_at_us=at + 2)
    trace = builder.build()
    assert launched_in(trace, intervals.single(30_000, 50_000)).tolist() == [1]
    assert launched_in(trace, intervals.EMPTY).tolist() == []
