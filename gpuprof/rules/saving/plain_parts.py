"""What the parts of a step take without the recording: its wait for data, and its optimizer.

Recording costs each of them another share. Light hooks time these in every iteration of the cell, so each part
has a factor of its own, measured on the iterations that ran without the recording.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.plain_iterations import IterationTime, PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals

# of a saving: what lies in one part to that degree is of that part
_MOSTLY = 0.8


@dataclass(frozen=True)
class PlainPart:
    """One part of the step: by what its recorded time is to be multiplied, and its share of the span, 0..1."""

    factor: float
    share: float


@dataclass(frozen=True, eq=False)
class PlainParts:
    """`wait` and `optimizer`: by what recorded time of that part, inside the steps, is to be multiplied.

    `iteration`: the plain iterations; `span_ns`: the recorded span as it would be without the recording; `error`: the
    standard error of the factors, as a share of them.
    """

    iteration: IterationTime
    wait: float
    optimizer: float
    span_ns: float
    error: float
    parts: tuple[Intervals, Intervals]

    @classmethod
    def of(cls, results: Results) -> PlainParts | None:
        """None where no iteration ran without the recording, or the steps are not those that the hooks saw."""
        found, steps, phases = results.get(PlainIterations), results.get(StepTime), results.get(Phases)
        if found.plain is None or not steps.count or not steps.window.total_ns:
            return None
        iteration = found.plain
        waits = intervals.intersect(phases.input, steps.window)
        optimizer = intervals.subtract(intervals.intersect(phases.optimizer, steps.window), waits)
        wait_ns = results.get(InputPipeline).wait_ns or 0
        factors = (
            _factor(iteration.wait_ns * steps.count, wait_ns),
            _factor(iteration.optimizer_ns * steps.count, optimizer.total_ns),
        )
        outside_ns = results.span_ns - steps.window.total_ns
        span_ns = outside_ns + iteration.mean_ns * steps.count
        return cls(iteration, *factors, max(span_ns, 1.0), found.error or iteration.error, (waits, optimizer))

    def part_of(self, within: Intervals) -> PlainPart | None:
        """The wait or the optimizer, where most of the union `within` lies in it; else None."""
        if not within.total_ns:
            return None
        for part, factor in zip(self.parts, (self.wait, self.optimizer), strict=True):
            if intervals.intersect(part, within).total_ns >= _MOSTLY * within.total_ns:
                return PlainPart(factor, min(part.total_ns * factor / self.span_ns, 1.0))
        return None


def _factor(plain_ns: float, recorded_ns: float) -> float:
    return plain_ns / recorded_ns if recorded_ns else 1.0
