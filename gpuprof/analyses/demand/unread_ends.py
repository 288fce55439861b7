"""Where gradients that nobody reads end: in a model, or in the backward pass of another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.demand.unread_work import UnreadPlace
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array


def rows_of(places: Sequence[UnreadPlace]) -> Array:
    """Their rows of looked_operators."""
    return np.array([row for each in places for row in each.rows], np.int64)


def read_beside(graph: ValueGraph, place: UnreadPlace, unread: Array) -> Array:
    """Rows that compute gradients for the same forward line in the same backward pass, and are not among the `unread`.
    Empty where that line is not known."""
    table = graph.operators
    there = table["backward"] & (table["place"] == place.place) & (table["forward_place"] == place.forward_place)
    rows = np.flatnonzero(there & graph.making & (table["duration_ns"] > 0))
    return rows[~np.isin(rows, unread)] if place.forward_place >= 0 else rows[:0]


def end_in_a_model(graph: ValueGraph, rows: Array) -> bool:
    """Whether some of these gradients are those of parameters, and do not only lead to other gradients: an input whose
    derivative a loss needs has one as well."""
    values, operators = graph.values, graph.operators
    weights = values["shape"][values["kind"] == ValueKind.PARAMETER]
    made = graph.results["value"][graph.new & np.isin(graph.results["operator"], rows)]
    readers = graph.reads["operator"][np.isin(graph.reads["value"], made)]
    # what adds to the gradients of a model runs no node of a forward operator
    adding = readers[operators["backward"][readers] & (operators["forward_operator"][readers] < 0)]
    sums = graph.results["value"][np.isin(graph.results["operator"], adding)]
    ends = np.concatenate((made[values["kind"][made] == ValueKind.GRADIENT], sums[sums >= 0]))
    return bool(np.isin(values["shape"][ends], weights).any())


def called_at(graph: ValueGraph, places: Sequence[UnreadPlace]) -> list[int]:
    """The lines that call the modules whose gradients these are, else those of their operators: rows of the looked
    places."""
    forward = graph.operators["forward_operator"][rows_of(places)]
    known = (forward >= 0) & (forward < len(graph.operators))
    called = graph.operators["called_at"][forward[known]]
    return called[called >= 0].tolist() or [place.forward_place for place in places]
