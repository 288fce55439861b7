"""The graph of the close look: which operator read and made which value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.dataflow.usual_times import usual_durations
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


class Grouped(NamedTuple):
    """Rows of a table by group: `rows[bounds[g]:bounds[g + 1]]` are those of group `g`, in the table's order."""

    rows: Array
    bounds: Array

    def of(self, group: int) -> Array:
        """The rows of that group."""
        return self.rows[self.bounds[group] : self.bounds[group + 1]]


@dataclass(frozen=True, eq=False)
class ValueGraph(Result):
    """`inputs` and `outputs`: rows of `reads` and `results` by operator; `readers`: rows of `reads` by value.

    Of reads and results only those whose operator and value exist. `new`: results that the operator made or wrote, bool
    of shape `(results,)`; the others are arguments, or views of them. By operator, bool: `making` have a new result,
    `view` only return views and write nothing. All empty where nothing was looked at.
    """

    operators: Table
    values: Table
    reads: Table
    results: Table
    inputs: Grouped
    outputs: Grouped
    readers: Grouped
    new: Array
    making: Array
    view: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the four tables of the look."""
        operators, values = weighed_operators(trace, results), trace.looked_values
        known = [
            each.take((each["operator"] >= 0) & (each["operator"] < len(operators)) & (each["value"] < len(values)))
            for each in (trace.looked_reads, trace.looked_results)
        ]
        reads, made = (each.take(np.lexsort((each["position"], each["operator"]))) for each in known)
        new = (
            (made["value"] >= 0) & (values["made_by"][made["value"]] == made["operator"])
            if len(values)
            else made["alias"]
        )
        making = np.bincount(made["operator"][new], minlength=len(operators)) > 0
        given = np.bincount(made["operator"], minlength=len(operators)) > 0
        return cls(
            operators=operators,
            values=values,
            reads=reads,
            results=made,
            inputs=grouped(reads["operator"], len(operators)),
            outputs=grouped(made["operator"], len(operators)),
            readers=grouped(reads["value"], len(values)),
            new=new,
            making=making,
            view=given & ~making & ~operators["writes"],
        )


def weighed_operators(trace: Trace, results: Results, *, as_measured: bool = False) -> Table:
    """Those of the look, without what held single ones up (but `as_measured`); where it is of several looks, with times
    in proportion to those of the cell."""
    operators, look = trace.looked_operators, trace.context.look
    spent = operators["duration_ns"] if as_measured else usual_durations(trace)
    if look is None or len(look.parts) < 2:
        return operators.replace(duration_ns=spent)
    return operators.replace(duration_ns=np.round(spent * results.get(LookedTime).weight))


def grouped(group: Array, count: int) -> Grouped:
    """Rows by their group, of `count` groups; rows of a negative group are left out."""
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    return Grouped(rows, np.concatenate(([0], np.cumsum(np.bincount(group[rows], minlength=count)[:count]))))


def any_of(group: Array, chosen: Array, count: int) -> Array:
    """Bool by group, of `count` groups: whether one of its rows is chosen; rows of a negative group count for none."""
    return np.bincount(group[chosen & (group >= 0)], minlength=count)[:count] > 0
