"""When loops of the close look ran in the recorded part, with their backward passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.training.backward_work import backward_of
from gpuprof.analyses.turns.separate_turns import SeparateTurns
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class RecordedTurns(Result):
    """The union of the time at the lines of `SeparateTurns` and of what backward passes run for them; empty where no
    lines were followed."""

    within: Intervals

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the line events and from the numbers that join a backward pass to its operators."""
        loops = results.get(SeparateTurns).loops
        forward = results.get(LookedLines).during(place for loop in loops for place in loop.places)
        if not forward.total_ns:
            return cls(intervals.EMPTY)
        return cls(intervals.joined(forward, backward_of(trace, forward)))
