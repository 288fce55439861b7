"""The checks of autograd's anomaly detection, which show in a recording even where its flag is off between steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_NODE = "autograd::engine::evaluate_function: "
_ACCUMULATE = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
# what the engine runs for each gradient that a node gives (torch/csrc/autograd/engine.cpp, `is_anomaly_mode`)
_CHECK = ("aten::isnan",)
_MOST = 0.5


@dataclass(frozen=True, eq=False)
class AnomalyChecks(Result):
    """`nodes` of the backward passes, gradients' own apart; `checked` of them were looked through for NaN by the engine
    itself. `checks`: the union of the looking, on any thread."""

    nodes: int
    checked: int
    checks: Intervals

    @property
    def on(self) -> bool:
        """Whether anomaly detection was on: a hook of the user checks here and there, the engine every node."""
        return self.checked > _MOST * self.nodes

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators that a node runs beside its own function."""
        operators = trace.operators
        node = trace.name_mask(operators, _NODE) & ~trace.name_mask(operators, _ACCUMULATE)
        check = np.flatnonzero(np.isin(trace.names_of(operators), _CHECK) & (operators["parent"] >= 0))
        check = check[node[operators["parent"][check]]]
        found = operators.take(check)
        return cls(int(node.sum()), len(np.unique(operators["parent"][check])), intervals.union(intervals.of(found)))
