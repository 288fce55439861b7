"""Graphs by what became of their nodes, in built looks; real ones are in tests/capture/look/test_graph_nodes.py."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.dropped_graphs import DroppedGraphs
from gpuprof.model.kinds import NodeFate
from tests.support.look_builder import LookBuilder

FREED, KEPT, UNKNOWN = NodeFate.FREED, NodeFate.KEPT, NodeFate.UNKNOWN


def found(look: LookBuilder) -> DroppedGraphs:
    return Results(look.build()).get(DroppedGraphs)


def forward(look: LookBuilder, name: str, fates: tuple[NodeFate, NodeFate, NodeFate], line: int = 3) -> LookBuilder:
    """Three products in a row, the last of which has that name; the first two are freed at once."""
    source = "x"
    for each, fate in enumerate(fates):
        made = name if each == 2 else f"{name}{each}"
        look.operator("aten::mm", 10, reads=source, makes=made, graph=True, node=fate, line=line, elements=1000)
        source = made
    return look


def begun() -> LookBuilder:
    return LookBuilder().tensor("x", elements=1000)


def test_freed_nodes_that_nothing_ran_are_dropped() -> None:
    look = forward(begun(), "y", (FREED, FREED, UNKNOWN)).operator("aten::relu", 70, reads="x", makes="z")
    answer = found(look)
    assert (answer.known, answer.count, answer.rows.tolist()) == (True, 1, [0, 1, 2])
    assert answer.share == pytest.approx(0.3)


def test_one_node_that_is_there_at_the_end_keeps_its_graph() -> None:
    assert found(forward(begun(), "y", (FREED, KEPT, UNKNOWN))).count == 0


def test_one_node_that_ran_means_that_the_graph_was_used() -> None:
    look = forward(begun(), "y", (FREED, FREED, UNKNOWN))
    look.operator("aten::mm", 10, reads="x", makes="g", backward=True, forward_of="y")
    assert found(look).count == 0


@pytest.mark.parametrize(("line", "count"), [(3, 0), (4, 1)])
def test_a_line_whose_graphs_are_used_now_and_then_is_left_alone(line: int, count: int) -> None:
    look = forward(forward(begun(), "y", (FREED, FREED, UNKNOWN)), "z", (FREED, FREED, FREED), line)
    look.operator("aten::mm", 10, reads="x", makes="g", backward=True, forward_of="y")
    answer = found(look)
    assert answer.count == count
    assert answer.rows.tolist() == ([3, 4, 5] if count else [])


def test_what_is_detached_belongs_to_another_graph() -> None:
    look = forward(begun(), "y", (FREED, FREED, FREED)).detached("d", "y")
    look.operator("aten::mm", 10, reads="d x", makes="z", graph=True, node=KEPT, line=5)
    assert found(look).count == 1
    look = forward(begun(), "y", (FREED, FREED, FREED))
    look.operator("aten::mm", 10, reads="y x", makes="z", graph=True, node=KEPT, line=5)
    assert found(look).count == 0


def test_nodes_through_which_a_gradient_is_handed_on_show_nothing() -> None:
    look = begun().operator("aten::add.Tensor", 10, reads="x", makes="y", graph=True, node=FREED)
    assert found(look).count == 0


def test_nothing_is_known_where_no_node_was_followed() -> None:
    assert not found(forward(begun(), "y", (UNKNOWN, UNKNOWN, UNKNOWN))).known
    assert not Results(LookBuilder().build()).get(DroppedGraphs).known


def test_it_keeps_what_is_freed_later_than_it_is_read() -> None:
    look = forward(begun(), "y", (FREED, FREED, FREED))
    look.operator("aten::relu", 1, reads="y", makes="z", elements=1000).free("y y0 y1")
    # all three at once, where two would do: what is read and what is made
    answer = found(look)
    assert answer.kept_bytes == {"cpu": 4000}
    assert answer.kept_share == {"cpu": 1 / 4}
    look = forward(begun(), "y", (FREED, FREED, FREED))
    # these stay whatever the graph does
    assert found(look.operator("aten::relu", 1, reads="y", makes="z")).kept_bytes == {}


def test_the_line_that_calls_the_model_is_named() -> None:
    look = begun()
    look.operator("aten::mm", 10, reads="x", makes="a", graph=True, node=FREED, line=3, called_line=9)
    look.operator("aten::mm", 20, reads="a", makes="b", graph=True, node=FREED, line=4, called_line=8)
    trace = look.build()
    places = Results(trace).get(DroppedGraphs).places
    assert trace.context.look is not None
    assert [trace.context.look.places[each].line for each in places] == [8, 9]
