"""What a close look saw of gradients that backward passes fill and nothing else touches: what is computed for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Array, Result, Results
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand.flow import Flow
from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.training.piled_gradients import filled_gradients
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class PiledWork(Result):
    """`gradients`: how many tensors; `rows` of looked_operators that compute something for these alone, `wasted_ns` of
    the `rows_ns` that they take, and of `time_ns` of all operators that the look saw. Nothing is known where code
    outside of torch's operators may read gradients."""

    gradients: int = 0
    rows: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    wasted_ns: int = 0
    rows_ns: int = 0
    time_ns: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Two walks back from what is read: with these gradients, and without."""
        look = trace.context.look
        if look is None or look.skipped is not None or look.unseen_writes or look.ended_by == "mode":
            return cls()
        operators, values = operators_of(trace), values_of(trace)
        filled = filled_gradients(operators, values)
        if not filled:
            return cls()
        spent = weighed_operators(trace, results)["duration_ns"]
        before, after = Flow(operators, values).needed, Flow(operators, values, passed_on=filled).needed
        spared = np.array(
            [max(b.share - a.share, 0.0) * o.backward for b, a, o in zip(before, after, operators, strict=True)]
        )
        rows = np.flatnonzero(spared * spent > 0)
        wasted_ns = int((spared * spent).sum())
        return cls(len(filled), rows, wasted_ns, int(spent[rows].sum()), int(spent.sum()))

    @property
    def share(self) -> float:
        """Of the operators' time."""
        return self.wasted_ns / self.time_ns if self.time_ns else 0.0

    @property
    def part(self) -> float:
        """Of the time of `rows`."""
        return self.wasted_ns / self.rows_ns if self.rows_ns else 0.0
