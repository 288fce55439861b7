"""The graphs that backward passes of the close look go through, cut where losses are added up.

What a loss is made of belongs together where one operator reads what another made. Where the loss is a linear
combination of single numbers, each of these has a part of the graph of its own: the gradient of the sum is the sum of
the gradients of the parts, each of which could be computed, and its part be freed, by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.model.kinds import ValueKind
from gpuprof.model.look import LookedPlace
from gpuprof.model.trace import Trace

# which add numbers up, or hand them on
_ADDING = frozenset(("add", "add_", "sub", "sub_", "stack", "cat"))
_WHOLE = frozenset(
    ("sum", "mean", "neg", "view", "_unsafe_view", "reshape", "squeeze", "unsqueeze", "alias", "clone", "_to_copy")
)
# with a number that is no result of the forward passes
_SCALING = frozenset(("mul", "mul_", "div", "div_"))
_STARTS = "ones_like"


class LossGraphs:
    """The graph of each backward pass; those alone that the look saw whole, and through which one pass goes."""

    def __init__(self, trace: Trace, graph: ValueGraph):
        self._trace, self._graph = trace, graph
        operators = graph.operators
        self._names = [own_name(trace.names[each]) for each in operators["name"].tolist()]
        self._recorded, self._backward = operators["graph"].tolist(), operators["backward"].tolist()
        self._forward = operators["forward_operator"].tolist()
        self._kind, self._made_by = graph.values["kind"].tolist(), graph.values["made_by"].tolist()
        reads = graph.reads
        self._value, self._elements = reads["value"].tolist(), reads["elements"].tolist()
        self._grad = reads["grad"].tolist()

    def __iter__(self) -> Iterator[LossGraph]:
        for row, name in enumerate(self._names):
            begins = name == _STARTS and not self._backward[row]
            if begins and row + 1 < len(self._names) and self._backward[row + 1]:
                found = self._from(row)
                if found is not None:
                    yield found

    def _from(self, row: int) -> LossGraph | None:
        roots = [self._value[each] for each in self._graph.inputs.of(row).tolist()]
        root = self._made_by[roots[0]] if len(roots) == 1 and roots[0] >= 0 else -1
        if root < 0 or not self._recorded[root]:
            return None
        end = self._end(row + 1)
        reached = self._reached(root)
        if reached is None:
            return None
        joining = self._joining(reached)
        parts = self._parts(reached, joining)
        if not self._is_alone(parts, row, end):
            return None
        return LossGraph(self._trace, self._graph, row, end, tuple(parts), tuple(sorted(joining)))

    def _end(self, row: int) -> int:
        """Behind the last operator of the pass that begins there."""
        end = row
        while row < len(self._names) and not self._recorded[row] and self._names[row] != _STARTS:
            end = row + 1 if self._backward[row] else end
            row += 1
        return end

    def _followed(self, row: int) -> Iterator[tuple[int, int]]:
        """Rows of the reads of an operator that autograd follows, each with the operator that made what is read."""
        for each in self._graph.inputs.of(row).tolist():
            if self._grad[each]:
                value = self._value[each]
                yield each, self._made_by[value] if value >= 0 else -1

    def _reached(self, root: int) -> dict[int, list[int]] | None:
        """The operators that the pass goes through, each with those that read it there, the last one first; None where
        the look did not see all of them."""
        found, queue = {root: list[int]()}, [root]
        while queue:
            row = queue.pop()
            for each, maker in self._followed(row):
                if self._value[each] < 0:
                    return None
                if maker >= 0 and self._recorded[maker]:
                    if maker not in found:
                        found[maker] = []
                        queue.append(maker)
                    found[maker].append(row)
        return dict(sorted(found.items(), reverse=True))

    def _joining(self, reached: dict[int, list[int]]) -> set[int]:
        """The operators that add up single numbers, and whose sum nothing else reads."""
        found = set[int]()
        for row, readers in reached.items():
            if all(each in found for each in readers) and self._is_linear(row):
                found.add(row)
        return found

    def _is_linear(self, row: int) -> bool:
        name, inputs = self._names[row], self._graph.inputs.of(row).tolist()
        followed = list(self._followed(row))
        if not self._recorded[row] or not followed or any(maker < 0 for _, maker in followed):
            return False
        single = all(self._elements[each] == 1 for each in inputs)
        if name in _ADDING:
            return single
        if name in _WHOLE:
            joined = len(followed) == 1 and self._names[followed[0][1]] in ("stack", "cat")
            return single or (joined and self._is_linear(followed[0][1]))
        # the first factor; what it is scaled by was there before, or is a number of Python's
        scaled = name in _SCALING and single and len(followed) == 1
        others = [self._value[each] for each in inputs if each != followed[0][0]]
        scaled &= name.startswith("mul") or followed[0][0] == inputs[0]
        return scaled and all(value >= 0 and self._made_by[value] < 0 for value in others)

    def _parts(self, reached: dict[int, list[int]], joining: set[int]) -> list[list[int]]:
        """The operators of what is added up, by what belongs together."""
        first = {row: row for row in reached if row not in joining}
        leaves = defaultdict[int, list[int]](list)
        pairs = list[tuple[int, int]]()
        for row in first:
            for each, maker in self._followed(row):
                if maker in first:
                    pairs.append((row, maker))
                elif maker not in joining and self._kind[self._value[each]] != ValueKind.PARAMETER:
                    leaves[self._value[each]].append(row)
        # of what was made where the look did not see it, nobody knows what it was made from
        pairs += [(rows[0], each) for rows in leaves.values() for each in rows]

        def top(row: int) -> int:
            while first[row] != row:
                first[row] = first[first[row]]
                row = first[row]
            return row

        for one, other in pairs:
            one, other = top(one), top(other)
            first[max(one, other)] = min(one, other)
        parts = defaultdict[int, list[int]](list)
        for row in sorted(first):
            parts[top(row)].append(row)
        return sorted(parts.values())

    def _is_alone(self, parts: Sequence[Sequence[int]], start: int, end: int) -> bool:
        """Whether no other pass goes through what several parts are made of, or through any of it later."""
        part_of = {row: number for number, part in enumerate(parts) for row in part}
        for row, forward in enumerate(self._forward):
            if self._backward[row] and not start <= row < end and forward in part_of:
                first, last = parts[part_of[forward]][0], parts[part_of[forward]][-1]
                if not first <= row <= last:
                    return False
        return True


@dataclass(frozen=True, eq=False)
class LossGraph:
    """The graph of the backward pass of the operators `start` to `end` (rows, `end` not one of them). `parts`: rows of
    the operators that made what is added up, by what belongs together, `joining`: of those that add up."""

    trace: Trace
    graph: ValueGraph
    start: int
    end: int
    parts: tuple[list[int], ...]
    joining: tuple[int, ...]

    @property
    def backward_at(self) -> int:
        """Row of the looked places: the line that called the backward pass."""
        return int(self.graph.operators["place"][self.start])

    @property
    def added_at(self) -> int:
        """Row of the looked places where most numbers are added up; -1: not known."""
        operators, reads, counts = self.graph.operators, self.graph.reads, Counter[int]()
        for row in reversed(self.joining):
            if own_name(self.trace.names[operators["name"][row]]) in _ADDING:
                counts[int(operators["place"][row])] += int(reads["grad"][self.graph.inputs.of(row)].sum())
        return counts.most_common(1)[0][0] if counts else -1

    def kind(self, part: Sequence[int]) -> Hashable:
        """By which lines, and with which operators, it begins and ends."""
        operators = self.graph.operators
        ends = [part[0], part[-1]]
        return tuple(tuple(operators[name][ends].tolist()) for name in ("name", "place", "path"))

    def path(self, row: int) -> tuple[LookedPlace, ...]:
        """The user's lines by which an operator was reached, the innermost first."""
        look, operators = self.trace.context.look, self.graph.operators
        if look is None:
            return ()
        path, place = int(operators["path"][row]), int(operators["place"][row])
        rows = look.paths[path] if 0 <= path < len(look.paths) else (place,)
        return tuple(look.places[each] for each in rows if 0 <= each < len(look.places))

    @property
    def path_of_pass(self) -> tuple[LookedPlace, ...]:
        """The lines by which the backward pass was called."""
        return self.path(self.start)

    def kept(self, part: Sequence[int]) -> dict[str, int]:
        """By device the bytes that its backward pass reads, and that were made for it alone, while it ran."""
        operators, values, reads = self.graph.operators, self.graph.values, self.graph.reads
        forward, reader, value = operators["forward_operator"], reads["operator"], reads["value"]
        mine = (reader >= self.start) & (reader < self.end) & operators["backward"][reader] & (value >= 0)
        own = np.isin(forward[reader], part)
        read = np.setdiff1d(value[mine & own], value[mine & ~own])
        made, gone = values["made_by"][read], values["gone_at"][read]
        others = [each[-1] for each in self.parts if each[-1] < part[0]]
        there = (made > max(others, default=-1)) & (made <= part[-1]) & ((gone < 0) | (gone > self.start))
        sizes = defaultdict[str, int](int)
        for each in read[there].tolist():
            device = int(values["device"][each])
            if device >= 0:
                sizes[self.trace.names[device]] += int(values["bytes"][each])
        return dict(sizes)
