"""Operators that did again what one before them had done on equal inputs, and the chains that they form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.operator_traits import FILLS, PRODUCTS, ZEROS, named
from gpuprof.analyses.dataflow.repeated_chains import Chain, chains
from gpuprof.analyses.dataflow.value_graph import ValueGraph, any_of
from gpuprof.analyses.dataflow.value_numbers import ValueNumbers
from gpuprof.model.kinds import ValueKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# what is written to them is what training is there for, whether or not it changes them
_STATE = (ValueKind.PARAMETER, ValueKind.GRADIENT, ValueKind.OPTIMIZER_STATE)


@dataclass(frozen=True, eq=False)
class RepeatedWork(Result):
    """`repeated`: operators that need not have run, bool by operator. `steady`: operators of the iterations that the
    shares are of: all but the first, in which constants are made, where there are several.

    `share`: of the time of steady operators, that of repeated ones, 0..1. `chains`: what belongs together of them, most
    time first.
    """

    repeated: Array
    steady: Array
    share: float
    chains: tuple[Chain, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the value numbers."""
        graph, numbers = results.get(ValueGraph), results.get(ValueNumbers)
        operators, first = graph.operators, numbers.first
        repeated = (first >= 0) & graph.making & ~_fills(trace, graph) & ~_of_state(graph)
        repeated &= ~_of_backward(graph, first) & ~_of_zeros(trace, graph)
        steady = _steady(operators)
        counted, lasted = repeated & steady, operators["duration_ns"]
        whole = int(lasted[steady].sum())
        return cls(
            repeated=repeated,
            steady=steady,
            share=int(lasted[counted].sum()) / whole if whole else 0.0,
            chains=chains(trace, graph, first, np.flatnonzero(counted), whole),
        )


def _steady(operators: Table) -> Array:
    steady = np.ones(len(operators), bool)
    for look in np.unique(operators["look"]):
        rows = np.flatnonzero(operators["look"] == look)
        known = np.unique(operators["iteration"][rows][operators["iteration"][rows] >= 0])
        if len(known) > 1:
            steady[rows] = operators["iteration"][rows] > known[0]
    return steady


def _fills(trace: Trace, graph: ValueGraph) -> Array:
    """Operators that put one value into a whole tensor; into a part of one is work of another kind."""
    whole = graph.reads["elements"] >= graph.values["elements"][graph.reads["value"]] if len(graph.values) else True
    part = any_of(graph.reads["operator"], ~(whole | (graph.reads["position"] > 0)), len(graph.operators))
    return named(trace, graph.operators, FILLS) & ~(part & graph.operators["writes"])


def _of_zeros(trace: Trace, graph: ValueGraph) -> Array:
    """Products with a tensor of nothing but zeros: a silent input, or a first state, is equal to another by chance."""
    operators = graph.operators
    made_by = graph.values["made_by"]
    known = made_by < len(operators)
    zeros = np.append(named(trace, operators, ZEROS), False)[np.where(known, made_by, -1)]
    silent = any_of(graph.reads["operator"], zeros[graph.reads["value"]], len(operators))
    return named(trace, operators, PRODUCTS) & silent


def _of_state(graph: ValueGraph) -> Array:
    """Operators that write to weights, gradients or an optimizer's state."""
    kinds = np.isin(graph.values["kind"], _STATE)
    return graph.operators["writes"] & any_of(graph.values["made_by"], kinds, len(graph.operators))


def _of_backward(graph: ValueGraph, first: Array) -> Array:
    """Operators of a backward pass, but for those that did the same in a backward pass of the same iteration.

    What ran forward in this iteration is activation checkpointing; what ran in others is the derivative of a part that
    does not change, and goes with it.
    """
    backward, iteration = graph.operators["backward"], graph.operators["iteration"].astype(np.int64)
    group = np.where(first >= 0, first, np.arange(len(first)))
    key = group * (int(iteration.max(initial=0)) + 2) + iteration + 1
    forward = np.isin(key, key[~backward])
    _, number = np.unique(key, return_index=True)
    earliest = np.zeros(len(first), bool)
    earliest[number] = True
    found: Array = backward & (forward | earliest | (iteration < 0))
    return found
