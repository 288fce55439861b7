"""The time of backward work, joined to the forward work that caused it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.training.backward_work import backward_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: MmBackward0"


def _passes(*steps_at: int, loss: str = "aten::ones_like") -> TraceBuilder:
    """Steps of 200 µs: operators 1 to 3, then their nodes in reverse, 4 µs apart, 16 µs after the gradient is made."""
    builder = TraceBuilder()
    for at in steps_at:
        builder.step(at, 200)
        for number, begin in ((1, 0), (2, 10), (3, 30)):
            builder.operator("aten::mm", at + begin, 10, sequence=at + number)
        builder.operator(loss, at + 50, 2)
        for number, begin in ((3, 68), (2, 82), (1, 96)):
            builder.operator(NODE, at + begin, 10, sequence=at + number)
            builder.operator("MmBackward0", at + begin + 1, 8, sequence=at + number)
        builder.operator("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", at + 110, 6)
    return builder


def _us(found: Intervals) -> list[tuple[float, float]]:
    return [(start / 1000, end / 1000) for start, end in zip(found.starts, found.ends, strict=True)]


def test_it_is_joined_by_sequence_numbers_and_holds_the_time_between_its_nodes() -> None:
    """GIVEN three operators and their nodes, two of them a loop's WHEN the walk before a pass of four takes 16 µs."""
    trace = _passes(0).build()
    assert _us(backward_of(trace, intervals.single(0, 20_000))) == [(60, 68), (82, 106)]
    assert _us(backward_of(trace, intervals.single(0, 40_000))) == [(56, 106)]
    assert backward_of(trace, intervals.single(40_000, 45_000)).total_ns == 0


def test_the_walk_is_counted_only_where_its_beginning_is_known() -> None:
    trace = _passes(0, loss="aten::mean").build()
    assert _us(backward_of(trace, intervals.single(0, 40_000))) == [(68, 106)]


def test_the_time_from_one_pass_to_the_next_belongs_to_neither() -> None:
    """GIVEN autograd's own thread, whose last node of a step is followed by the first of the next one."""
    builder = TraceBuilder()
    for at in (0, 200):
        builder.thread("main").step(at, 200).operator("aten::mm", at, 10, sequence=at + 1)
        builder.thread("autograd").operator(NODE, at + 50, 10, sequence=at + 1)
    found = backward_of(builder.build(), intervals.single(0, 400_000))
    assert _us(found) == [(50, 60), (250, 260)]


def test_nodes_in_an_operator_that_is_no_node_are_neighbours() -> None:
    """A user's own range, which old traces list as an operator, is around them."""
    builder = TraceBuilder().step(0, 200)
    for number in (1, 2):
        builder.operator("aten::mm", 10 * number, 10, sequence=number)
    builder.operator("backward", 60, 50)
    for number, begin in ((2, 64), (1, 80)):
        builder.operator(NODE, begin, 10, sequence=number)
    assert _us(backward_of(builder.build(), intervals.single(0, 40_000))) == [(64, 90)]


def test_another_operator_between_two_nodes_ends_their_neighbourhood() -> None:
    builder = TraceBuilder().step(0, 200)
    for number in (1, 2):
        builder.operator("aten::mm", 10 * number, 10, sequence=number).operator(NODE, 50 * number, 10, sequence=number)
    found = backward_of(builder.operator("aten::add", 80, 5).build(), intervals.single(0, 40_000))
    assert _us(found) == [(50, 60), (100, 110)]


@pytest.mark.parametrize("part", [0.0, 1.0])
def test_every_shared_trace_is_read(any_shared_trace: Any, part: float) -> None:
    trace = any_shared_trace
    found = backward_of(trace, intervals.single(trace.span_start_ns, int(trace.span_start_ns + part * trace.span_ns)))
    assert (np.diff(found.starts) > 0).all() and found.total_ns <= trace.span_ns
