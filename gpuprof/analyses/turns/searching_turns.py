"""Loops whose turns each compare the whole of a large tensor with an item of their own, to use little of what they
find: an item's positions, a count, a sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.dataflow.operator_traits import named
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.turns.turns import TurnLoop
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_COMPARES = frozenset(("eq", "ge", "gt", "isin", "le", "lt", "ne"))
# what joins what was found with other tensors, element by element
_JOINS = frozenset(
    (
        *("__and__", "__or__", "_to_copy", "bitwise_and", "bitwise_not", "bitwise_or", "logical_and", "logical_not"),
        *("logical_or", "mul", "where"),
    )
)
# of shorter tensors a sort takes about as long
_LEAST_ELEMENTS = 20_000
# of the tensor: what a turn makes of what it found
_MOST_FOUND = 0.2
# of a loop's time
_LEAST_SHARE = 0.4


@dataclass(frozen=True)
class ItemSearch:
    """`shape` of the largest tensor that the turns compare; `tensors`: how many they compare, each turn all of them."""

    shape: str
    tensors: int


def may_search(trace: Trace, graph: ValueGraph) -> bool:
    """Whether any operator compares a tensor that is large enough."""
    compares = named(trace, graph.operators, _COMPARES)[graph.reads["operator"]]
    return bool((compares & (graph.reads["elements"] >= _LEAST_ELEMENTS)).any())


def search_of(trace: Trace, graph: ValueGraph, loop: TurnLoop, common: Array) -> ItemSearch | None:
    """What the turns search; None where they do not. `common`: by row of `reads`, whether most turns read it."""
    reads, inside = graph.reads, loop.turn >= 0
    compares = named(trace, graph.operators, _COMPARES) & inside
    over = common & compares[reads["operator"]] & (reads["elements"] >= _LEAST_ELEMENTS)
    if not over.any():
        return None
    whole = int(reads["elements"][over].max())
    joins = named(trace, graph.operators, _JOINS)
    searching, taken = _followed(graph, inside, joins, np.unique(reads["operator"][over]))
    lasted = graph.operators["duration_ns"]
    if not taken or np.median(taken) > _MOST_FOUND * whole:
        return None
    if lasted[searching].sum() < _LEAST_SHARE * lasted[inside].sum():
        return None
    largest = int(np.flatnonzero(over)[np.argmax(reads["elements"][over])])
    # of the first run: later ones may have other tensors
    first = over & (loop.run[reads["operator"]] == 0)
    return ItemSearch(trace.names[int(reads["shape"][largest])], len(np.unique(reads["value"][first])) or 1)


def _followed(graph: ValueGraph, inside: Array, joins: Array, compares: Array) -> tuple[Array, list[int]]:
    """Mask of the operators that compare, or use what was found; and how many elements come of it in the end: joined
    with other tensors, what was found is as large as before."""
    results, reads = graph.results, graph.reads
    searching = np.zeros(len(inside), bool)
    found, taken = dict[int, int](), list[int]()
    first = set(compares.tolist())
    for operator in np.flatnonzero(inside).tolist():
        given = [int(each) for each in reads["value"][graph.inputs.of(operator)]]
        used = [each for each in given if each in found]
        if operator not in first and not used:
            continue
        searching[operator] = True
        found |= dict.fromkeys(used, 0)
        for row in graph.outputs.of(operator).tolist():
            value, elements = int(results["value"][row]), int(results["elements"][row])
            if value in given:  # a view
                continue
            if operator in first or joins[operator]:
                found[value] = elements
            else:
                taken.append(elements)
    return searching, taken + [each for each in found.values() if each]
