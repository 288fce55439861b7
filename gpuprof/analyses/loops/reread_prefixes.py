"""Recurrent models that read all of what a loop collects again in each iteration, instead of keeping their state.

What is collected is known by the text, that it grows by looks at it or by the tensors of the close look, and how long
the model takes by sampled stacks. No iteration need be timed.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.operator_traits import own_name
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.loops.accumulations import Accumulation, Accumulations, Growing
from gpuprof.analyses.loops.line_iterations import stack_path
from gpuprof.analyses.loops.written_loops import notebook_sources, parsed
from gpuprof.model.operands import Operand
from gpuprof.model.trace import Trace

_RECURRENT = "torch/nn/modules/rnn.py"
# reads its sequence from both ends: no state of the beginning is of use
_BOTH_WAYS = "bidirectional=True"
# weights that change make the state of the beginning another one
_TRAINS = ("backward(", ".step(")
_GROWS = 4.0
_JOINING = ("cat", "concat", "concatenate")
_TURNS = 3
_FIRST_STATES, _STATE_AXES = ("zeros", "new_zeros"), 3


@dataclass(frozen=True)
class RereadPrefix:
    """`ns` of `cell_ns`: in a recurrent module that the lines of `accumulation` call. `first`, `last`: how long it was
    when it was shortest and longest in the looks, in items; None where only the close look saw it grow."""

    accumulation: Accumulation
    ns: int
    cell_ns: int
    first: int | None
    last: int | None


@dataclass(frozen=True)
class RereadPrefixes(Result):
    """`found`: most time first; empty where no stack was sampled."""

    found: tuple[RereadPrefix, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Of each thing that the text collects and reads in full."""
        nodes, lasted = trace.stack_samples["node"], trace.stack_samples["duration_ns"]
        if trace.context.stacks is None or not len(nodes):
            return cls(())
        known = nodes[nodes >= 0]
        spent = np.bincount(known, lasted[nodes >= 0], len(trace.stack_nodes))
        recurrent = [node for node in np.unique(known).tolist() if _is_recurrent(trace, node)]
        texts = dict(notebook_sources(trace))
        found = list[RereadPrefix]()
        for each in results.get(Accumulations).found if recurrent else ():
            if each.growing in (Growing.GRAPH, Growing.COPIED, Growing.ATTACHED) or _needs_all(each, texts):
                continue
            ns = sum(float(spent[node]) for node in recurrent if _is_called(trace, node, each))
            lengths = _lengths(trace, each)
            grows = lengths is not None or _elements_grow(trace, each) or _grows_in_look(trace, results, each)
            grows = grows or _grows_by_text(each, texts.get(each.file, ""))
            if ns > 0 and grows:
                found.append(RereadPrefix(each, int(ns), int(lasted.sum()), *(lengths or (None, None))))
        return cls(tuple(sorted(found, key=lambda each: -each.ns)))


def _needs_all(of: Accumulation, texts: dict[str, str]) -> bool:
    """Whether the text says that a kept state would be of no use."""
    loop = "\n".join(texts.get(of.file, "").splitlines()[of.first - 1 : of.last])
    trains = any(word in loop for word in _TRAINS)
    return trains or any(_BOTH_WAYS in text.replace(" ", "") for text in texts.values())


def _grows_by_text(of: Accumulation, source: str) -> bool:
    """Whether each turn of the loop makes it longer: it is joined with more along a named axis other than the first,
    which may be the batch, in a statement that always runs, and nothing else in the loop is assigned to it."""
    tree = parsed(source) if of.growing is Growing.JOINED else None
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)) if tree else ()
    for loop in loops:
        bound = [node for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        joins = [node for node in loop.body if isinstance(node, ast.Assign) and node.lineno == of.line]
        if joins and [each.id for each in bound].count(of.name) == 1 and _joins(joins[0].value, of.name):
            return True
    return False


def _joins(value: ast.expr, name: str) -> bool:
    """Whether it is `cat([name, …], dim=1)` or its like."""
    if not isinstance(value, ast.Call) or not value.args or not isinstance(value.args[0], ast.List | ast.Tuple):
        return False
    called = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    axis = next((each.value for each in value.keywords if each.arg in ("dim", "axis")), None)
    axis = value.args[1] if axis is None and len(value.args) > 1 else axis
    parts = value.args[0].elts
    itself = any(isinstance(each, ast.Name) and each.id == name for each in parts)
    return called in _JOINING and itself and len(parts) > 1 and axis is not None and ast.unparse(axis) != "0"


def _is_recurrent(trace: Trace, node: int) -> bool:
    stacks = trace.context.stacks
    while node >= 0 and stacks is not None:
        if stacks.files[int(trace.stack_nodes["sampled_file"][node])].filename.replace("\\", "/").endswith(_RECURRENT):
            return True
        node = int(trace.stack_nodes["parent"][node])
    return False


def _is_called(trace: Trace, node: int, of: Accumulation) -> bool:
    """Whether a line that reads all of it led there."""
    return any(file == of.file and line in of.works and of.holds(file, line) for file, line in stack_path(trace, node))


def _lengths(trace: Trace, of: Accumulation) -> tuple[int, int] | None:
    """How long the list was at first and at last, where it is one that grew much."""
    for each in _operands(trace, of):
        if each.least is not None and each.most is not None:
            grows = each.most >= _GROWS * max(each.least, 1)
            return (each.least, each.most) if grows else None
    return None


def _elements_grow(trace: Trace, of: Accumulation) -> bool:
    """Whether it is a tensor that grew much, along whichever axis."""
    return any(
        each.fewest_elements is not None
        and each.most_elements is not None
        and each.most_elements >= _GROWS * max(each.fewest_elements, 1)
        for each in _operands(trace, of)
    )


def _operands(trace: Trace, of: Accumulation) -> list[Operand]:
    """What its name stood for where it is collected."""
    stacks = trace.context.stacks
    cell = next((each.filename for each in (stacks.files if stacks else ()) if each.kind == "cell"), "")
    found = operands_at(trace.context.operands, of.file or cell, of.line)
    return [each for each in found if each.name == of.name]


def _grows_in_look(trace: Trace, results: Results, of: Accumulation) -> bool:
    """Whether an operator at a line that collects or reads it made, turn by turn, results longer by the same number. Of
    a prefix that is taken, these are views; they may be longer along the batch, unless first states are as large."""
    lines, graph = results.get(LookedLines), results.get(ValueGraph)
    prefix = of.growing is Growing.PREFIX
    places = {
        number
        for number, each in enumerate(lines.lines)
        if ("" if each.in_cell else each.file) == of.file and each.line in (of.line, *of.works)
    }
    shapes = defaultdict[tuple[int, int], list[tuple[int, ...]]](list)
    chosen = graph.new | prefix
    rows = np.flatnonzero(chosen & (graph.results["position"] == 0)) if len(graph.results) else ()
    for row in rows:
        operator = int(graph.results["operator"][row])
        place, shape = int(graph.operators["place"][operator]), int(graph.results["shape"][row])
        if place in places and shape >= 0:
            key = int(graph.operators["name"][operator]), place
            shapes[key].append(tuple(json.loads(trace.names[shape])))
    grows = any(_grows(each) for each in shapes.values())
    return grows and (not prefix or _states_stay(trace, graph, places))


def _states_stay(trace: Trace, graph: ValueGraph, places: set[int]) -> bool:
    """Whether first states (layers, batch, size) that are made below these lines have one shape."""
    look, shapes = trace.context.look, list[str]()
    named = [number for number, name in enumerate(trace.names) if own_name(name) in _FIRST_STATES]
    fills = np.isin(graph.operators["name"], named)
    for row in np.flatnonzero(fills[graph.results["operator"]] & (graph.results["shape"] >= 0)):
        operator, shape = int(graph.results["operator"][row]), trace.names[int(graph.results["shape"][row])]
        path = int(graph.operators["path"][operator])
        below = look.paths[path] if look is not None and 0 <= path < len(look.paths) else ()
        if places & {*below} and shape.count(",") == _STATE_AXES - 1:
            shapes.append(shape)
    return len(shapes) >= _TURNS and len(set(shapes)) == 1


def _grows(shapes: list[tuple[int, ...]]) -> bool:
    """Along one dimension, by the same number each time."""
    if len(shapes) < _TURNS or len({len(each) for each in shapes}) != 1 or not shapes[0]:
        return False
    changes = np.diff(np.array(shapes, np.int64), axis=0)
    step = changes[0]
    return bool((changes == step).all() and (step > 0).sum() == 1 and (step >= 0).all())
