"""Who wrote what a turn reads, and which numbers only count the turns."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.turns.turn_dependence import _UNSEEN, _counts, _integers, _Regions
from gpuprof.model.kinds import ValueKind
from tests.support.look_builder import LookBuilder

SIZE = 24
PARTS = st.tuples(st.integers(0, 11), st.integers(1, 4), st.integers(1, 3))
"""Offset, length and step of a part of a storage."""


def regions(look: LookBuilder) -> tuple[_Regions, ValueGraph]:
    trace = look.build()
    graph = Results(trace).get(ValueGraph)
    return _Regions(trace, graph), graph


def last_read(graph: ValueGraph) -> int:
    return len(graph.reads) - 1


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(PARTS, st.booleans()), max_size=5), PARTS)
def test_a_part_was_written_by_the_last_operator_that_wrote_into_it(
    writes: list[tuple[tuple[int, int, int], bool]], read: tuple[int, int, int]
) -> None:
    """From its first element to its last one; what is written outside of the runs counts for all of it."""
    look = LookBuilder().tensor("x", elements=SIZE)
    expected, start, end = -1, read[0], read[0] + (read[1] - 1) * read[2]
    for number, ((offset, length, step), inside) in enumerate(writes):
        look.part(f"p{number}", "x", shape=(length,), strides=(step,), offset=offset, view=number + 1)
        look.operator("aten::mul_", 1, writes=f"p{number}")
        if not inside or (offset <= end and start <= offset + (length - 1) * step):
            expected = number
    look.part("r", "x", shape=(read[1],), strides=(read[2],), offset=read[0], view=99)
    found, graph = regions(look.operator("aten::exp", 1, reads="r", makes="y"))
    run = np.array([0 if inside else -1 for _, inside in writes] + [0])
    assert found.maker(last_read(graph), run) == expected


def test_a_tensor_as_a_whole_was_written_by_whatever_wrote_into_it() -> None:
    look = LookBuilder().operator("aten::zeros", 1, makes="x", elements=SIZE)
    look.part("p", "x", shape=(2,), strides=(1,), offset=20)
    found, graph = regions(look.operator("aten::mul_", 1, writes="p").operator("aten::exp", 1, reads="x", makes="y"))
    assert found.maker(last_read(graph), np.zeros(3, int)) == 1
    look = LookBuilder().operator("aten::zeros", 1, makes="x", elements=SIZE)
    look.part("p", "x", shape=(2,), strides=(1,), offset=20).part("q", "x", shape=(4,), strides=(2,), offset=3)
    found, graph = regions(look.operator("aten::mul_", 1, writes="p").operator("aten::exp", 1, reads="q", makes="y"))
    # what made the tensor is behind what wrote elsewhere
    assert found.maker(last_read(graph), np.zeros(3, int)) == 0


def test_a_content_that_came_without_an_operator_is_unseen() -> None:
    look = LookBuilder().tensor("x", elements=SIZE).operator("aten::exp", 1, reads="x", makes="y")
    found, graph = regions(look)
    assert found.maker(last_read(graph), np.zeros(1, int)) == -1
    look = LookBuilder().tensor("x", elements=SIZE).operator("aten::exp", 1, reads="x", makes="y")
    look._write("x", -1, 0, ValueKind.OTHER)
    found, graph = regions(look.operator("aten::exp", 1, reads="x", makes="z"))
    assert found.maker(last_read(graph), np.zeros(2, int)) == _UNSEEN
    value = int(graph.reads["value"][last_read(graph)])
    assert found.read_before(value, 1, np.array([0, 1])) and not found.read_before(value, 1, np.array([1, 1]))


NUMBERS = st.lists(st.integers(-50, 50), min_size=1, max_size=3)


@given(NUMBERS, st.data())
def test_numbers_that_grow_evenly_count_the_turns(first: list[int], data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.integers(-3, 3), min_size=len(first), max_size=len(first)))
    turns = np.array(sorted(data.draw(st.sets(st.integers(0, 30), min_size=3, max_size=6))))
    texts = [
        json.dumps(["a", [start + step * turn for start, step in zip(first, steps, strict=True)]])
        for turn in turns.tolist()
    ]
    assert _counts(texts, turns) is any(steps)
    # one of them that is out of step
    wrong = json.dumps(["a", [start + 200 for start in first]])
    assert not _counts([*texts[:-1], wrong], turns)
    assert not _counts([*texts[:-1], texts[-1].replace("a", "b")], turns)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("[1, [2, true]]", (1, 2)), ("[1.5, null]", ()), ("[", ()), ("7", (7,)), ('["3", -4]', (-4,))],
)
def test_whole_numbers_of_a_text(text: str, numbers: tuple[int, ...]) -> None:
    found, rest = _integers(text)
    assert found == numbers and all(str(each) not in rest or each == 0 for each in numbers)


def test_texts_of_other_lengths_do_not_count() -> None:
    assert not _counts(["[1, 2]", "[1]", "[1, 2]"], np.arange(3))
    assert not _counts(["[]", "[]", "[]"], np.arange(3))
    assert not _counts(["", "", ""], np.arange(3))
