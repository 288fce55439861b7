"""Backward passes that run over the same graph again, and add up in the same gradients."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_NODE = re.compile(r"autograd::engine::evaluate_function: ")
_ACCUMULATE = "torch::autograd::AccumulateGrad"
_ADD = re.compile(r"aten::add_?$")
# what reads or changes the gradients of all parameters with a few operators
_OF_ALL = re.compile(r"aten::(_foreach_|zero_$|.*norm|_fused_|stack$|cat$)|Optimizer\.")


@dataclass(frozen=True, eq=False)
class RepeatedPasses(Result):
    """`again`: the union of the nodes that a later pass ran once more, with what it added to gradients. `repeats`: how
    many passes ran any again, `nodes`: how many, the median of those passes. `passes`: how often such a node ran in
    all, the median.

    A pass is what autograd runs between two operators of the main thread outside it. A node is known by the number that
    torch gave the operator that made it. Counted are passes that add to gradients which an earlier pass over the same
    nodes left, with fewer operators between than there are parameters: so none can have read them one by one.
    """

    again: Intervals
    repeats: int
    nodes: float
    passes: float

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the numbers of the nodes that ran, in the order of time."""
        operators = trace.operators
        rows = backward_nodes(trace)
        if not len(rows):
            return cls(intervals.EMPTY, 0, 0.0, 0.0)
        passes = BackwardPasses.of(trace, rows)
        again, ran = _again(trace, rows, passes)
        if not len(again):
            return cls(intervals.EMPTY, 0, 0.0, 0.0)
        repeating, nodes = np.unique(passes.number[again], return_counts=True)
        adding = rows[np.isin(passes.number, repeating) & passes.accumulates]
        during = intervals.union(intervals.of(operators.take(np.concatenate((rows[again], adding)))))
        return cls(during, len(repeating), float(np.median(nodes)), float(np.median(ran)))


def backward_nodes(trace: Trace) -> Array:
    """Rows of `operators`: the nodes that autograd ran, in the order of time."""
    rows = np.flatnonzero(matching(trace, trace.operators, _NODE))
    ordered: Array = rows[np.argsort(trace.operators["start_ns"][rows], kind="stable")]
    return ordered


@dataclass(frozen=True, eq=False)
class BackwardPasses:
    """By node, in order of time: `number` of its pass, `before` (operators of the main thread until then),
    `accumulates` (a gradient of a parameter). By pass: `adds`, whether to gradients that were there, and `gradients`,
    how many. `of_all_ns`: when something began that reads or changes all of them."""

    number: Array
    before: Array
    accumulates: Array
    adds: Array
    gradients: Array
    of_all_ns: Array

    @classmethod
    def of(cls, trace: Trace, rows: Array) -> Self:
        """`rows`: as `backward_nodes` gives them."""
        operators = trace.operators
        starts = operators["start_ns"][rows]
        nodes = np.zeros(len(operators), bool)
        nodes[rows] = True
        top = (operators["parent"] < 0) & (operators["thread"] == trace.main_thread) & ~nodes
        before = np.searchsorted(np.sort(operators["start_ns"][top]), starts)
        number = np.cumsum(np.diff(before, prepend=before[0]) != 0)
        # a node of the engine without the one below it gives the gradient to `autograd.grad` instead
        inner = operators["parent"][trace.name_mask(operators, _ACCUMULATE)]
        accumulates = np.isin(rows, inner)
        count = int(number[-1]) + 1
        adding = np.isin(rows, _adding_nodes(trace)) & accumulates
        of_all = matching(trace, operators, _OF_ALL) & top
        steps = trace.user_ranges.take(matching(trace, trace.user_ranges, _OF_ALL))
        return cls(
            number,
            before,
            accumulates,
            np.bincount(number[adding], minlength=count) > 0,
            np.bincount(number[accumulates], minlength=count),
            np.sort(np.concatenate((operators["start_ns"][of_all], steps["start_ns"]))),
        )


def _adding_nodes(trace: Trace) -> Array:
    """Nodes that add to a gradient which is there; the first one of a step keeps what it is given."""
    operators = trace.operators
    added = np.flatnonzero(matching(trace, operators, _ADD) & (operators["parent"] >= 0))
    above = operators["parent"][added]
    above = above[trace.name_mask(operators, _ACCUMULATE)[above]]
    nodes: Array = operators["parent"][above]
    return nodes


def _again(trace: Trace, rows: Array, passes: BackwardPasses) -> tuple[Array, Array]:
    """Positions in `rows` of nodes that had run before, in a pass whose gradients this one adds to; and how often each
    such node ran."""
    operators = trace.operators
    key = np.stack((operators["forward_thread"][rows], operators["sequence"][rows]), axis=1)
    numbered = np.flatnonzero((key[:, 1] >= 0) & ~passes.accumulates)
    order = numbered[np.lexsort((numbered, key[numbered, 1], key[numbered, 0]))]
    later, earlier = order[1:], order[:-1]
    names = operators["name"][rows]
    same = (key[later] == key[earlier]).all(axis=1) & (names[later] == names[earlier])
    number, since = passes.number[later], passes.number[earlier]
    starts = operators["start_ns"][rows]
    kept = np.searchsorted(passes.of_all_ns, starts[later]) == np.searchsorted(passes.of_all_ns, starts[earlier])
    between = passes.before[later] - passes.before[earlier]
    same &= (number > since) & passes.adds[number] & (passes.gradients[since] > 0)
    same &= kept & (between < passes.gradients[number])
    again = later[same]
    _, runs = np.unique(key[again], axis=0, return_counts=True)
    return np.sort(again), runs + 1
