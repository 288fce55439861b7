"""Nodes of autograd's graphs that operators of the look made: which of them runs, and which are freed.

A node cannot be referred to weakly. A mark among its metadata can, and is freed with it.
"""

from __future__ import annotations

import weakref
from typing import Any

from gpuprof.model.kinds import NodeFate

_KEY = "gpuprof"


class _NodeMark:
    """Lives as long as the node that has it."""

    __slots__ = ("__weakref__",)


class GraphNodes:
    """The operators of a look by autograd's numbers for their nodes, which are those of the thread that made them."""

    def __init__(self) -> None:
        self._operators: dict[int, int] = {}
        self._marks: dict[int, weakref.ref[_NodeMark]] = {}
        self._fates: dict[int, NodeFate] | None = None
        self._lost = False

    def made(self, number: int, operator: int) -> None:
        """The node of that number belongs to that operator."""
        self._operators.setdefault(number, operator)

    def running(self, node: Any) -> int:
        """The operator whose node runs in a backward pass now; -1 where it is none of the look's."""
        return -1 if node is None else self._operators.get(node._sequence_nr(), -1)

    def follow(self, tensor: Any) -> None:
        """See what becomes of the node of a tensor that an operator reads. Of a view it may be made when it is asked
        for: those are left alone."""
        if tensor._is_view():
            return
        node = tensor.grad_fn
        operator = self.running(node)
        if operator < 0 or operator in self._marks:
            return
        mark = _NodeMark()
        node.metadata[_KEY] = mark
        self._marks[operator] = weakref.ref(mark)

    def lose_track(self) -> None:
        """A backward pass runs in code that does not tell which nodes it stands for."""
        self._lost = True

    def end(self) -> None:
        """What is freed from now on counts as kept."""
        if self._fates is None:
            self._fates = {each: _fate_of(mark) for each, mark in self._marks.items()}

    def fates(self, operators: int) -> list[NodeFate]:
        """What became of the nodes of the first so many operators, by operator; after `end`."""
        known = {} if self._lost else self._fates or {}
        return [known.get(each, NodeFate.UNKNOWN) for each in range(operators)]


def _fate_of(mark: weakref.ref[_NodeMark]) -> NodeFate:
    return NodeFate.FREED if mark() is None else NodeFate.KEPT
