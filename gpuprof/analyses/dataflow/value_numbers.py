"""Which operators did the same as one before them: value numbering over the close look.

Two operators are equal where name, scalars and the content of every tensor that they read are equal. Contents are equal
where they are one value, where their fingerprints are equal, or where equal operators made them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import SHAPED, UNSET, named
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class ValueNumbers(Result):
    """`first`: the first operator that did the same, int32 by operator; -1 where there is none before it.

    `content`: by value a number that equal contents share, int64; -1 of values that no operator read or made.
    """

    first: Array
    content: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the values in the order in which they were made."""
        graph = results.get(ValueGraph)
        numbering = _Numbering(trace, graph)
        first = np.empty(len(graph.operators), np.int32)
        for operator in range(len(first)):
            first[operator] = numbering.earlier(operator, numbering.key(operator))
            numbering.note(operator, int(first[operator]))
        content = np.full(len(graph.values), -1, np.int64)
        content[list(numbering.content)] = list(numbering.content.values())
        return cls(first, content)


@dataclass
class _Numbering:
    """Keys of operators, and what is known of each value so far."""

    trace: Trace
    graph: ValueGraph
    content: dict[int, int] = field(default_factory=dict)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    firsts: dict[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        operators, values = self.graph.operators, self.graph.values
        self.name, self.scalars = operators["name"].tolist(), operators["scalars"].tolist()
        self.random, self.view = operators["random"].tolist(), self.graph.view.tolist()
        self.writes = operators["writes"].tolist()
        self.unset = named(self.trace, operators, UNSET).tolist()
        self.shaped = named(self.trace, operators, SHAPED).tolist()
        self.size = values["elements"].tolist()
        self.print, self.type = values["fingerprint"].tolist(), values["dtype"].tolist()
        self.reads = _rows(self.graph.reads)
        self.made = _rows(self.graph.results)
        self.new = self.graph.new.tolist()
        self.inputs, self.outputs = (
            (each.rows.tolist(), each.bounds.tolist()) for each in (self.graph.inputs, self.graph.outputs)
        )

    def key(self, operator: int) -> int | None:
        """One number for equal operators; None where it cannot be told, or there is nothing to compare."""
        if self.view[operator] or self.random[operator] or self.unset[operator]:
            return None
        made = self._results(operator)
        if self.writes[operator] and not made:
            return None
        rows, bounds = self.inputs
        parts: list[Hashable] = [self.name[operator], self.scalars[operator], *(self._layout(row) for row in made)]
        for row in rows[bounds[operator] : bounds[operator + 1]]:
            value, view, shape, position = self.reads[row]
            if value < 0 and view:
                parts.append((position, "parts", view))  # what it consists of is read, too
                continue
            if value < 0:
                return None
            if self.shaped[operator]:
                parts.append((position, shape, self.type[value]))
            else:
                parts.append((position, self._content(value), view, shape))
        return self._number(tuple(parts))

    def _results(self, operator: int) -> list[int]:
        """Rows of results that hold a content of their own."""
        rows, bounds = self.outputs
        return [row for row in rows[bounds[operator] : bounds[operator + 1]] if self.new[row]]

    def _content(self, value: int) -> int:
        if value not in self.content:
            self.content[value] = self._leaf(value)
        return self.content[value]

    def _leaf(self, value: int) -> int:
        """The content of a value that no equal of a known operator made."""
        if self.print[value]:
            return self._number(("print", self.print[value], self.type[value], self.size[value]))
        return self._number(("value", value))

    def earlier(self, operator: int, key: int | None) -> int:
        """The first operator of that key; -1 where it is this one, or their results are not equal after all."""
        if key is None:
            return -1
        first = self.firsts.setdefault(key, operator)
        if first == operator:
            return -1
        for row, other in zip(self._results(operator), self._results(first), strict=True):
            prints = self.print[self.made[row][0]], self.print[self.made[other][0]]
            if all(prints) and prints[0] != prints[1]:
                return -1
        return first

    def note(self, operator: int, earlier: int) -> None:
        """What its results hold: the same as those of its equal, else what their fingerprints say, or something new."""
        made = self._results(operator)
        others = self._results(earlier) if earlier >= 0 else made
        for row, other in zip(made, others, strict=True):
            value, same = self.made[row][0], self.made[other][0]
            self.content[value] = self.content[same] if value != same else self._leaf(value)

    def _layout(self, row: int) -> tuple[int, int, int]:
        """How a result lies in memory: part of the key, since views of it are told by that alone."""
        value, view = self.made[row][:2]
        return view, self.size[value], self.type[value]

    def _number(self, what: Hashable) -> int:
        return self.numbers.setdefault(what, len(self.numbers))


def _rows(table: Table) -> list[tuple[int, int, int, int]]:
    columns = (table[name].tolist() for name in ("value", "view", "shape", "position"))
    return list(zip(*columns, strict=True))
