"""Which part of the recorded backward passes is the derivative of forward operators."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.recorded_parts import RecordedPart, backward_share
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: MmBackward0"
MS = 1_000_000


def trained(scale: float = 1000) -> Results:
    """Two products of 1 ms each (at 0 and 2 ms), whose nodes take 6 and 2 ms."""
    builder = TraceBuilder().step(0, 20 * scale)
    for number, begin in ((1, 0), (2, 2)):
        builder.operator("aten::mm", begin * scale, scale, sequence=number)
    builder.operator(NODE, 6 * scale, 2 * scale, sequence=2).operator(NODE, 9 * scale, 6 * scale, sequence=1)
    return Results(builder.build())


def part(start_ms: float, end_ms: float, share: float = 1.0) -> RecordedPart:
    return RecordedPart(intervals.single(round(start_ms * MS), round(end_ms * MS)), share)


@pytest.mark.parametrize(
    ("parts", "share"),
    [
        ([part(0, 1)], 6 / 8),
        ([part(2, 3)], 2 / 8),
        ([part(0, 1, 0.5), part(2, 3, 0.5)], 4 / 8),
        ([part(0, 3)], 1.0),
        ([part(4, 5)], 0.0),
        # a node has no derivative of its own
        ([part(6, 8)], 0.0),
        ([RecordedPart(Intervals(intervals.EMPTY.starts, intervals.EMPTY.ends), 1.0)], 0.0),
        ([], 0.0),
    ],
)
def test_the_derivative_of_a_part(parts: list[RecordedPart], share: float) -> None:
    assert backward_share(trained(), parts) == pytest.approx(share)


def test_little_recorded_says_nothing() -> None:
    assert backward_share(trained(scale=100), [part(0, 0.1)]) == 0.0
