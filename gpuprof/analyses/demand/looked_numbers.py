"""Where the close look saw Python read or write single numbers of tensors, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import named
from gpuprof.analyses.dataflow.value_graph import ValueGraph, any_of
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a loop, not a handful
LEAST_ACCESSES = 100
# a row that short is handled beside its numbers: `table[state].argmax()`
_ROW = 8
# of the numbers taken: with less done with them, they are rows of a data set that are put together
_LEAST_USED = 0.25
_TAKES = frozenset(("select", "unbind", "index", "slice", "narrow"))
_WRITES = frozenset(("fill_", "copy_", "index_put_", "add_", "sub_", "mul_", "div_"))


@dataclass(frozen=True, eq=False)
class LookedNumbers(Result):
    """Runs of operators on tensors of one element, or of a few, with at least 100 in a run that take a single number
    out of a larger tensor, and a quarter as many at least that read, write or compute with them.

    `accesses` of the longest run, `writes` of them all. `rows` of looked_operators are those of all runs, `share` of
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
        run = np.cumsum(~single)
        number = np.bincount(run[single], access[single], minlength=int(run[-1]) + 1)
        used = np.bincount(run[single & (~takes & ~graph.view | writes)], minlength=len(number))
        number[used < _LEAST_USED * number] = 0
        rows = np.flatnonzero(single & (number[run] >= LEAST_ACCESSES))
        if not len(rows):
            return cls()
        place = operators["place"][rows]
        found, group = np.unique(place, return_inverse=True)
        spent = np.bincount(group.reshape(-1), lasted[rows], len(found))
        places = tuple(int(found[each]) for each in np.argsort(-spent, kind="stable") if found[each] >= 0)
        share = int(lasted[rows].sum()) / whole
        recorded = operators["graph"] & ~graph.view & ~takes
        return cls(int(number.max()), int(writes[rows].sum()), rows, share, places, bool(recorded[rows].any()))
