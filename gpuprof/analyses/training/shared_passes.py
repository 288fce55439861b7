"""Backward passes for single gradients (`autograd.grad`) that go through the same graph, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.training.repeated_passes import BackwardPasses, backward_nodes
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

# fewer are a few outputs, each with its own gradient
_FEWEST = 8
# of a small node of the graph, as recorded: it takes so long whatever its size
_OVERHEAD_NS = 40_000
# such a node of batched gradients goes through batching rules, too
_BATCHED = 3


@dataclass(frozen=True, eq=False)
class SharedPasses(Result):
    """`during`: the nodes that 8 passes or more ran, none of which adds to a gradient. `passes`: how often such a node
    ran, the median; `saved_part` of their time is overhead that one pass with the gradients of all has once."""

    during: Intervals = intervals.EMPTY
    passes: int = 0
    saved_part: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the numbers of the nodes that ran."""
        rows = backward_nodes(trace)
        if len(rows) < _FEWEST:
            return cls()
        operators, passes = trace.operators, BackwardPasses.of(trace, rows)
        rows = rows[(passes.gradients[passes.number] == 0) & (operators["sequence"][rows] >= 0)]
        key = np.stack([operators[name][rows] for name in ("forward_thread", "sequence", "name")])
        _, of, times = np.unique(key, axis=1, return_inverse=True, return_counts=True)
        times = times[of.reshape(-1)]
        rows, times = rows[times >= _FEWEST], times[times >= _FEWEST]
        if not len(rows):
            return cls()
        lasted = operators["duration_ns"][rows].astype(np.float64)
        saved = np.minimum(lasted, _OVERHEAD_NS) * np.maximum(1 - _BATCHED / times, 0.0)
        during = intervals.union(intervals.of(operators.take(rows)))
        return cls(during, int(np.median(times)), float(saved.sum() / max(lasted.sum(), 1.0)))
