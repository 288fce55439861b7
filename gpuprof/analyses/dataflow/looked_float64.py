"""What of the close look works in double precision, beside the weights of a model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.kernels.float64_operators import LEAST_ELEMENTS
from gpuprof.analyses.loops.written_loops import notebook_sources
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# one number of a complex type has two floats
_DOUBLE, _SINGLE = ("float64", "complex128"), ("float32", "complex64")
_SEEN_SHARE = 0.8  # of the operators of its iterations
_DEFAULT = re.compile(r"set_default_dtype\(\s*torch\.(float64|double)")
# they solve, factorize or invert: double precision is chosen for them
_SOLVERS = ("aten::linalg_", "aten::_linalg_", "aten::cholesky", "aten::triangular_solve", "aten::lu_")
# lengths and products of vectors
_NO_SOLVERS = ("aten::linalg_vector_norm", "aten::linalg_norm", "aten::linalg_cross", "aten::linalg_vecdot")
_WEIGHTED = ("mm", "addmm", "linear", "matmul", "bmm", "baddbmm", "conv", "lstm", "gru", "rnn", "native_layer_norm")


@dataclass(frozen=True, eq=False)
class LookedFloat64(Result):
    """`rows` of `looked_operators` that read or make a float64 tensor of LEAST_ELEMENTS numbers or more, or complex128
    (`complex`: there are such), `share` of the operators' time, 0..1, `convolved` of theirs in convolutions and
    their backward passes; `weights_share`: of those among them that multiply with float64 parameters. `widened`: places
    of those that read a float64 tensor and a float32 one, and make float64 of both: nobody asks for that. `places`:
    rows of the looked places, those of most time first. `solvers`: something solves, factorizes or inverts; `chosen`:
    the notebook sets double precision as the default."""

    rows: Array
    share: float
    convolved: float
    weights_share: float
    widened: tuple[int, ...]
    places: tuple[int, ...]
    solvers: bool
    chosen: bool
    complex: bool = False

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the types of the values."""
        graph = results.get(ValueGraph)
        operators, values = graph.operators, graph.values
        names = trace.names_of(operators)
        double = np.array([*(name in _DOUBLE for name in trace.names), False], bool)[values["dtype"]]
        large = double & (values["elements"] >= LEAST_ELEMENTS)
        complex_ones = np.array([*(name == "complex128" for name in trace.names), False], bool)[values["dtype"]]
        weight = large & (values["kind"] == ValueKind.PARAMETER)
        wide = _touching(len(operators), (graph.reads, graph.results), large)
        weighted = _touching(len(operators), (graph.reads,), weight) & np.array(
            [_plain(name).startswith(_WEIGHTED) for name in names], bool
        )
        spent = operators["duration_ns"].astype(np.float64)
        total = max(float(spent.sum()), 1.0)
        rows = np.flatnonzero(wide & ~graph.view)
        convolution = np.array(["conv" in name for name in names], bool)
        by_place = np.bincount(operators["place"][rows] + 1, weights=spent[rows])
        places = (int(each) - 1 for each in np.argsort(-by_place, kind="stable") if by_place[each] > 0)
        return cls(
            rows=rows,
            share=float(spent[rows].sum()) / total,
            convolved=float(spent[rows][convolution[rows]].sum()) / max(float(spent[rows].sum()), 1.0),
            weights_share=float(spent[weighted].sum()) / total,
            widened=_widened(trace, graph, large),
            places=tuple(each for each in places if each >= 0),
            solvers=any(
                name.startswith(_SOLVERS) and not name.startswith(_NO_SOLVERS) for name in (*names, *_others(trace))
            ),
            complex=bool((large & complex_ones).any()),
            chosen=any(_DEFAULT.search(text) for _, text in notebook_sources(trace)),
        )


def _others(trace: Trace) -> tuple[str, ...]:
    """The names of the recorded operators, where the look saw a part of an iteration: it may have missed some."""
    look = trace.context.look
    whole = look is not None and (look.operators_share or 0.0) >= _SEEN_SHARE
    return () if whole else tuple(np.unique(trace.names_of(trace.operators)))


def _widened(trace: Trace, graph: ValueGraph, double: Array) -> tuple[int, ...]:
    operators, values = graph.operators, graph.values
    single = np.array([*(name in _SINGLE for name in trace.names), False], bool)[values["dtype"]]
    single &= values["elements"] >= LEAST_ELEMENTS
    both = _touching(len(operators), (graph.reads,), single) & _touching(len(operators), (graph.reads,), double)
    rows = np.flatnonzero(both & _touching(len(operators), (graph.results,), double) & ~graph.view)
    return tuple(sorted({int(each) for each in operators["place"][rows]} - {-1}))


def _touching(operators: int, sides: tuple[Table, ...], chosen: Array) -> Array:
    found = np.zeros(operators, bool)
    for side in sides:
        mine = (side["value"] >= 0) & np.append(chosen, False)[side["value"]]
        found[side["operator"][mine]] = True
    return found


def _plain(name: str) -> str:
    return name.removeprefix("aten::").removeprefix("_")
