"""Which phase of a step a piece of host time belongs to: input, optimizer, backward or forward."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

INPUT = "enumerate(DataLoader)#"
OPTIMIZER = "Optimizer."

_BACKWARD = re.compile(r"autograd::engine::evaluate_function: |torch::autograd::\w+$|\w+Backward\d*$")


@dataclass(frozen=True, eq=False)
class Phases(Result):
    """Unions of host time on the main thread: `input` inside DataLoader `__next__`, `optimizer` inside `Optimizer.`
    ranges, `backward` inside what the autograd engine runs there (with CUDA it has its own thread)."""

    input: Intervals
    optimizer: Intervals
    backward: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From user ranges and the names of autograd nodes."""
        on_main = trace.operators["thread"] == trace.main_thread
        return cls(
            input=_spans(trace, INPUT),
            optimizer=_spans(trace, OPTIMIZER),
            backward=intervals.union(intervals.of(trace.operators.take(backward_mask(trace) & on_main))),
        )


def backward_mask(trace: Trace) -> Array:
    """Boolean mask of shape `(len(trace.operators),)`: nodes of the autograd graph, as the engine runs them.

    Names as torch gives them: `autograd::engine::evaluate_function: …` since 1.9, the node's own name before.
    """
    return matching(trace, trace.operators, _BACKWARD)


def matching(trace: Trace, table: Table, pattern: re.Pattern[str]) -> Array:
    """Boolean mask of shape `(len(table),)`: rows whose name matches from its beginning."""
    hit = np.fromiter((pattern.match(name) is not None for name in trace.names), bool, len(trace.names))
    return hit[table["name"]] if len(table) else np.zeros(0, bool)


def _spans(trace: Trace, prefix: str) -> Intervals:
    chosen = trace.name_mask(trace.user_ranges, prefix) & (trace.user_ranges["thread"] == trace.main_thread)
    return intervals.union(intervals.of(trace.user_ranges.take(chosen)))
