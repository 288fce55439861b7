from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.learned_line_events import _alike
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.model.context import FollowedLines, SourceFile
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

FOLLOWED = FollowedLines(how="samples", start_ns=0, end_ns=1 << 62, files=(SourceFile(filename=CELL_FILE),))
# operator, line, µs
BODY = [("aten::linear", 3, 40), ("aten::relu", 4, 10), ("aten::linear", 5, 40), ("aten::sum", 6, 5)]


def loop(looks: set[tuple[int, int]], *, wrong: set[tuple[int, int]] = frozenset()) -> Trace:  # type: ignore[assignment]
    """Twenty iterations; `looks` are (iteration, position) at which the stack was seen."""
    builder, at = TraceBuilder().context(lines=FOLLOWED), 0
    for iteration in range(20):
        for position, (name, line, took) in enumerate(BODY):
            builder.operator(name, at, took)
            if (iteration, position) in looks:
                builder.look(at + took / 2, (CELL_FILE, "<module>", 99 if (iteration, position) in wrong else line))
            at += took + 5
    return builder.build()


def learned(trace: Trace) -> list[int]:
    places = Results(trace).get(LinePlaces)
    at = places.at(trace.operators["thread"], trace.operators["start_ns"])
    return [int(places.events["line"][row]) if row >= 0 else -1 for row in at]


def test_one_look_tells_the_line_in_all_iterations() -> None:
    lines = learned(loop({(3, 0), (7, 1), (11, 2), (15, 3)}))
    inner = lines[4:-4]
    assert inner == [3, 4, 5, 6] * 18


def test_operators_of_one_name_are_told_apart_by_their_neighbors() -> None:
    lines = learned(loop({(3, 0), (11, 2)}))
    assert set(lines[4:-4:4]) == {3} and set(lines[6:-4:4]) == {5}


def test_where_looks_disagree_nothing_is_said() -> None:
    lines = learned(loop({(3, 0), (5, 0)}, wrong={(5, 0)}))
    assert set(lines[4:-4:4]) == {-1}


def test_without_a_look_nothing_is_said() -> None:
    assert set(learned(loop(set()))) == {-1}


@given(st.sets(st.tuples(st.integers(0, 19), st.integers(0, 3)), max_size=20))
def test_what_is_said_is_right(looks: set[tuple[int, int]]) -> None:
    true = [line for _ in range(20) for _, line, _ in BODY]
    for said, line in zip(learned(loop(looks)), true, strict=True):
        assert said in (-1, line)


def test_operators_in_a_row_on_one_line_hold_the_time_between_them() -> None:
    builder = TraceBuilder().context(lines=FOLLOWED)
    for number in range(4):
        builder.operator("aten::add", 10 * number, 5)
        builder.look(10 * number + 2, (CELL_FILE, "<module>", 2))
    places = Results(builder.build()).get(LinePlaces)
    assert int(places.own_ns(places.within).sum()) == 35_000


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.sampled_from([1, 3]))
def test_operators_are_alike_where_all_names_around_them_are(names: list[int], reach: int) -> None:
    found = _alike(np.array(names), reach)
    padded = [-1] * reach + names + [-1] * reach
    around = [tuple(padded[at : at + 2 * reach + 1]) for at in range(len(names))]
    for one, left in enumerate(around):
        for other, right in enumerate(around):
            assert (found[one] == found[other]) == (left == right)


def test_a_look_between_two_operators_tells_nothing_of_either() -> None:
    builder, at = TraceBuilder().context(lines=FOLLOWED), 0
    for _ in range(20):
        builder.operator("aten::linear", at, 40).look(at + 42, (CELL_FILE, "<module>", 3))
        at += 50
    assert set(learned(builder.build())) == {-1}
