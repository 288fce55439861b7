"""Where the close look saw Python read or write single numbers of tensors, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import named
from gpuprof.analyses.dataflow.value_graph import ValueGraph, any_of
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# a loop, not a handful
LEAST_ACCESSES = 100
# a row that short is handled beside its numbers: `table[state].argmax()`
_ROW = 8
# of the numbers taken: with less done with them, they are rows of a data set that are put together
_LEAST_USED = 0.25
# of a line, and in a row: a loop, or a line of one
_A_FEW, _SEVERAL = 10, 3
_TAKES = frozenset(("select", "unbind", "index", "slice", "narrow"))
_WRITES = frozenset(("fill_", "copy_", "index_put_", "add_", "sub_", "mul_", "div_"))


@dataclass(frozen=True, eq=False)
class LookedNumbers(Result):
    """Operators on tensors of one element, or of a few, that take a single number out of a larger tensor, at least 100
    in a row, or in a function with several in a row, and a quarter as many at least that read, write or compute with
    them.

    `accesses` of the most of these, `writes` of them all. `rows` of looked_operators are those of all runs, `share` of
    the time of all operators, 0..1; `places`: rows of the looked places, most time first. `graph`: autograd recorded
    what one of them computes or writes; a number that is only taken out, to be read, does not count.
    """

    accesses: int = 0
    writes: int = 0
    rows: Array | None = None
    share: float = 0.0
    places: tuple[int, ...] = ()
    graph: bool = False

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """By the order of the operators; one that reads or makes more than a few ends a run, unless it is a view."""
        graph = results.get(ValueGraph)
        operators, lasted = graph.operators, graph.operators["duration_ns"]
        whole, count = int(lasted.sum()), len(operators)
        if whole <= 0:
            return cls()
        takes = named(trace, operators, _TAKES)
        from_many = any_of(graph.reads["operator"], graph.reads["elements"] > 1, count)
        makes_many = any_of(graph.results["operator"], graph.results["elements"] > 1, count)
        makes = np.bincount(graph.results["operator"], minlength=count)[:count]
        from_row = any_of(graph.reads["operator"], graph.reads["elements"] > _ROW, count)
        makes_row = any_of(graph.results["operator"], graph.results["elements"] > _ROW, count)
        single = ~operators["backward"] & (~(from_row | makes_row) | graph.view | (takes & ~makes_row))
        access = np.where(single & takes & from_many & ~makes_many, makes, 0)
        writes = single & operators["writes"] & named(trace, operators, _WRITES)
        used = single & (~takes & ~graph.view | writes)
        run = np.cumsum(~single)
        in_run = _numbers(run, single, access, used)
        several = np.where(in_run >= _SEVERAL, access, 0)
        number = np.maximum(in_run, _numbers(_functions(trace, operators, several), single, several, used))
        rows = np.flatnonzero(single & (number >= LEAST_ACCESSES))
        if not len(rows):
            return cls()
        place = operators["place"][rows]
        found, group = np.unique(place, return_inverse=True)
        spent = np.bincount(group.reshape(-1), lasted[rows], len(found))
        places = tuple(int(found[each]) for each in np.argsort(-spent, kind="stable") if found[each] >= 0)
        share = int(lasted[rows].sum()) / whole
        recorded = operators["graph"] & ~graph.view & ~takes
        return cls(int(number[rows].max()), int(writes[rows].sum()), rows, share, places, bool(recorded[rows].any()))


def _functions(trace: Trace, operators: Table, access: Array) -> Array:
    """A number for each function, of its lines that take a few numbers; -1 elsewhere."""
    look = trace.context.look
    places = look.places if look is not None else ()
    function = np.unique([f"{each.file} {each.function}" for each in places], return_inverse=True)[1].reshape(-1)
    place = operators["place"].astype(np.int64)
    place[place >= len(places)] = -1
    taken = np.bincount(place + 1, access, len(places) + 1)
    return np.where((place >= 0) & (taken[place + 1] >= _A_FEW), np.append(function, 0)[place], -1)


def _numbers(group: Array, single: Array, access: Array, used: Array) -> Array:
    """By operator, how many numbers its group takes; 0 where it does little with them, or is in none."""
    inside = single & (group >= 0)
    size = int(group.max(initial=0)) + 1
    number = np.bincount(group[inside], access[inside], size)
    number[np.bincount(group[inside & used], minlength=size) < _LEAST_USED * number] = 0
    return np.where(inside, number[group], 0)
