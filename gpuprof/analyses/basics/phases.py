"""Which phase of a step a piece of host time belongs to: input, optimizer, backward or forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.autograd_nodes import backward_mask as backward_mask
from gpuprof.analyses.basics.autograd_nodes import matching as matching
from gpuprof.analyses.basics.closures import Closures
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

INPUT = "enumerate(DataLoader)#"
OPTIMIZER = "Optimizer."
_ZERO_GRAD = "Optimizer.zero_grad#"


@dataclass(frozen=True, eq=False)
class Phases(Result):
    """Unions of host time on the main thread: `input` inside DataLoader `__next__`, `optimizer` inside `Optimizer.`
    ranges but not in a closure that a step was given, `backward` inside what the autograd engine runs there (with CUDA
    it has its own thread)."""

    input: Intervals
    optimizer: Intervals
    backward: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From user ranges and the names of autograd nodes."""
        on_main = trace.operators["thread"] == trace.main_thread
        stepping = intervals.subtract(_spans(trace, OPTIMIZER), results.get(Closures).ran)
        zeroing = _spans(trace, _ZERO_GRAD)  # the optimizer's, in a closure as well
        return cls(
            input=_spans(trace, INPUT),
            optimizer=intervals.joined(stepping, zeroing),
            backward=intervals.union(intervals.of(trace.operators.take(backward_mask(trace) & on_main))),
        )


def _spans(trace: Trace, prefix: str) -> Intervals:
    chosen = trace.name_mask(trace.user_ranges, prefix) & (trace.user_ranges["thread"] == trace.main_thread)
    return intervals.union(intervals.of(trace.user_ranges.take(chosen)))
