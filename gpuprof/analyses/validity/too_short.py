"""A recording of too little: no two whole iterations, or a cell of a few milliseconds."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.analyses.validity.doubt import TIMES, Doubt, Handling, ValidityCheck
from gpuprof.model.context import Window
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_MS

_FEWEST_STEPS = 2
# Starting and ending the profiler moves single times by some 100 µs: a tenth and more of such a cell.
_LEAST_CELL_NS = 5 * NS_PER_MS


class TooShort(ValidityCheck):
    """Doubtful: what repeats cannot be told from what happens once, or the profiler itself counts."""

    order = 70

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the steps and the length of the cell."""
        window, steps = trace.context.window, results.get(StepTime).count
        if trace.source.kind == "snapshot" or not len(trace.operators) or window is None:
            return cls(_one_step() if steps == 1 else None)
        whole_ns = window.cell_end_ns - window.cell_start_ns
        if trace.source.kind == "recording" and 0 < whole_ns < _LEAST_CELL_NS:
            return cls(
                Doubt(
                    code="too_short",
                    sentence=f"The cell took only {units.duration(whole_ns)}: starting the profiler distorts it.",
                    remedy="Put the code into a loop that runs for a second.",
                    spoils=TIMES,
                    handling=Handling.LOWERED,
                )
            )
        if steps >= _FEWEST_STEPS or window.steps_seen < 1 or window.ended_by == "profiler":
            return cls()
        # one step of an optimizer (L-BFGS, say) beside a loop without steps
        if window.steps_seen < _FEWEST_STEPS and results.get(Iterations).main is not None:
            return cls()
        return cls(_few_steps(steps, window))


def _one_step() -> Doubt:
    return Doubt(
        code="too_short",
        sentence="Only one step was recorded: what happens once cannot be told from what repeats.",
        remedy="Record at least three steps.",
    )


def _few_steps(recorded: int, window: Window) -> Doubt:
    seen = window.steps_seen
    # what was recorded to its end has no more to record
    all_there_is = seen < _FEWEST_STEPS or window.ended_by == "cell"
    more = "Let the cell make at least three steps." if all_there_is else "Record more with `--max-seconds`."
    return Doubt(
        code="too_short",
        sentence=(
            f"Only {units.plural(recorded, 'whole step')} of {units.count(seen)} "
            f"{'was' if recorded == 1 else 'were'} recorded: what happens once cannot be told from what repeats."
        ),
        remedy=more,
        spoils=TIMES,
        handling=Handling.LOWERED if seen >= _FEWEST_STEPS else Handling.SAID,
    )
