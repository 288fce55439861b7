"""Repetitions of a sequence of operators."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.python_loops import LEAST_TURNS, PythonLoops
from gpuprof.analyses.loops.slice_walks import Walk
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def loops(trace: Trace) -> PythonLoops:
    return Results(trace).get(PythonLoops)


def _sequence(names: list[str], *, dims: str | None = None) -> TraceBuilder:
    builder = TraceBuilder().step(0, 10 * len(names) + 10)
    for place, name in enumerate(names):
        builder.operator(name, 10 * place, 10, dims=dims)
    return builder


def test_a_loop_over_slices_is_found_whole() -> None:
    found = loops(_sequence(["aten::linear", *["aten::select", "aten::mm"] * 12, "aten::stack"]).build()).loops
    assert len(found) == 1
    assert sorted(found[0].names) == ["aten::mm", "aten::select"]
    assert (found[0].slices, found[0].turns, found[0].total_ns) == (True, 12, 240_000)
    assert found[0].runs[0].walks is None


def test_what_is_walked_along_is_read_from_shapes_and_indices() -> None:
    builder = TraceBuilder().step(0, 500)
    for turn in range(12):
        builder.operator("aten::select", 20 * turn, 10, dims="[[9, 12], [], []]", values=f'["", "1", "{turn}"]')
        builder.operator("aten::mm", 20 * turn + 10, 10)
    assert loops(builder.build()).loops[0].runs[0].walks == (Walk(12, 1, (9,)),)


def test_what_was_unbound_before_the_loop_is_walked_along() -> None:
    builder = TraceBuilder().step(0, 500).operator("aten::unbind", 0, 5, dims="[[12, 3], []]", values='["", "0"]')
    for turn in range(12):
        builder.operator("aten::mm", 20 * turn + 10, 5).operator("aten::relu", 20 * turn + 20, 5)
    assert loops(builder.build()).loops[0].runs[0].walks == (Walk(12, 0, (3,)),)


def test_a_tensor_unbound_before_the_loop_counts_as_sliced() -> None:
    found = loops(_sequence(["aten::unbind", *["aten::mm", "aten::relu"] * 12]).build()).loops
    assert found[0].slices


def test_layers_without_a_slice_are_told_apart() -> None:
    assert not loops(_sequence(["aten::mm", "aten::relu"] * 12).build()).loops[0].slices


def test_nine_turns_are_no_loop() -> None:
    assert loops(_sequence(["aten::select", "aten::mm"] * 9).build()).loops == ()


def test_loops_in_the_optimizer_are_its_own_affair() -> None:
    builder = _sequence(["aten::select", "aten::mm"] * 12).optimizer_step("SGD", 0, 1000)
    assert loops(builder.build()).loops == ()


def _nested(*rows: int) -> Trace:
    """For each of these rows of twelve, in steps of 5 ms with a dozen rows: the row with each one, then a stack."""
    builder = TraceBuilder()
    for place, row in enumerate(rows):
        at = place // 12 * 5000 + place % 12 * 400
        if place % 12 == 0:
            builder.step(at, 5000)
        for turn in range(12):
            for part, index in enumerate((row, turn)):
                values = f'["", "0", "{index}"]'
                builder.operator("aten::select", at + 30 * turn + 10 * part, 5, dims="[[12, 3], [], []]", values=values)
            builder.operator("aten::sub", at + 30 * turn + 20, 5)
        builder.operator("aten::stack", at + 370, 5)
    return builder.build()


def test_a_loop_whose_runs_are_turns_of_another() -> None:
    (loop,) = loops(_nested(*range(12), *range(12))).loops
    assert [(run.turns, run.step, run.walks) for run in loop.outer] == [
        (12, 0, (Walk(12, 0, (3,)),)),
        (12, 1, (Walk(12, 0, (3,)),)),
    ]
    assert (loop.outer[0].start_ns, loop.outer[0].end_ns) == (0, (11 * 400 + 355) * 1000)


@pytest.mark.parametrize(
    "rows", [(5,) * 12, (*range(6), *range(6)), tuple(range(9))], ids=["the same row", "to and fro", "nine"]
)
def test_runs_that_only_follow_one_another_are_no_loop(rows: tuple[int, ...]) -> None:
    assert loops(_nested(*rows)).loops[0].outer == ()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=6),
    st.integers(LEAST_TURNS, 20),
    st.lists(st.sampled_from(["x", "y"]), max_size=3),
)
def test_any_repetition_is_covered(turn: list[str], turns: int, around: list[str]) -> None:
    """However it is cut into turns, no more than one turn at either end may be missed."""
    found = loops(_sequence([*around, *turn * turns, *around]).build()).loops
    covered = sum(run.turns * len(loop.names) for loop in found for run in loop.runs)
    assert covered >= len(turn) * (turns - 1)


def test_every_shared_trace_is_read(any_shared_trace: Any) -> None:
    for loop in loops(any_shared_trace).loops:
        assert loop.turns >= LEAST_TURNS
        assert 0 < loop.total_ns <= any_shared_trace.span_ns
