"""Most of the recording is start-up, so that it says little about the steps that follow.

What it finds
    First steps (each more than twice as long as the usual one) that take at least half of all steps' time: a minor
    remark in a cell of fewer than ten steps, or where they are less than 30% of the whole cell. Or, on a recording
    without steps, first calls of runtime functions and first launches of kernels that take at least half of it with
    the device idle.

Why it costs
    The first steps create the CUDA context, load libraries and kernels, fill the allocator's cache, try algorithms and
    compile. All of that is paid once. What looks slow in such a recording is mostly not what is slow later.

What to do
    Run a few steps in a cell of their own before the profiled one, or record more steps (`%%gpuprofile --steps 50`),
    and judge the other findings by that recording.

When to leave it
    When the start itself is what you are after: a short job, or one request to a fresh process.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.start_up import StartUp
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.saving.scope import worst

# of the cell: where it is less, what is said of the whole cell does not rest on these steps
_CELL_SHARE = 0.3


@dataclass(frozen=True)
class ColdStartDominates(Rule):
    """See the module."""

    start_share: float = threshold(0.5, "of the time: from there on totals speak more of the start than of the steps")
    steps: float = threshold(3, "fewer do not show which one is unusual")
    many_steps: float = threshold(10, "of fewer the first weighs much whatever it does: the cell is short, and no more")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the first steps; without steps, the first calls."""
        found, steps, places = results.get(StartUp), results.get(StepTime), results.get(LinePlaces)
        if steps.count >= self.steps:
            share = found.warm_up_share or 0.0
            if share < self.start_share:
                return None
            finding = self._in_steps(found, steps, places, share)
            return finding if _much_of_the_cell(results, found.warm_up_ns) else replace(finding, severity=Severity.LOW)
        if steps.count:
            return None
        if found.first_calls_share is None:
            return Abstention(
                self.name,
                "steps, to tell the first from the later ones",
                "Profile a loop that reads a DataLoader or steps an optimizer: their turns are the steps.",
            )
        share = found.first_calls_share
        return self._in_calls(found, places, share) if share >= self.start_share else None

    def _in_steps(self, found: StartUp, steps: StepTime, places: LinePlaces, share: float) -> Finding:
        first = "first step takes" if found.warm_up_steps == 1 else f"first {found.warm_up_steps} steps take"
        return self._finding(
            f"The {first} {units.percent(share)} of the steps’ time",
            f"{units.plural(found.warm_up_steps, 'step')} of {steps.count} took {units.duration(found.warm_up_ns)}; "
            f"half of the later ones took less than {units.duration(steps.median_ns)}. Totals and shares of this "
            "recording speak of the start.",
            {
                "warm_up_steps": found.warm_up_steps,
                "warm_up_ms": units.milliseconds(found.warm_up_ns),
                "warm_up_share": round(share, 4),
                "steps": steps.count,
                "median_step_ms": units.milliseconds(steps.median_ns or 0),
            },
            found.warm_up,
            places,
            Severity.MEDIUM if steps.count >= self.many_steps else Severity.LOW,
        )

    def _in_calls(self, found: StartUp, places: LinePlaces, share: float) -> Finding:
        spent = found.first_calls.total_ns
        return self._finding(
            f"Loading libraries and kernels takes {units.percent(share)} of the recorded time",
            f"First calls of runtime functions, `{found.longest_call}` the longest, took {units.duration(spent)} with "
            f"the device idle{_launches(found)}. Totals and shares of this recording speak of the start.",
            {
                "first_calls_ms": units.milliseconds(spent),
                "first_calls_share": round(share, 4),
                "longest_call": found.longest_call or "",
                **({"first_launches": found.first_launches} if found.first_launches else {}),
            },
            found.first_calls,
            places,
        )

    def _finding(
        self,
        title: str,
        explanation: str,
        evidence: dict[str, float | int | str],
        ranges: Intervals,
        places: LinePlaces,
        severity: Severity = Severity.MEDIUM,
    ) -> Finding:
        return Finding(
            rule=self.name,
            severity=severity,
            title=title,
            explanation=explanation,
            evidence=evidence,
            where=Where(lines=places.cell_lines(ranges), ranges_ns=worst(ranges)),
            during=intervals.union(ranges),
            change="Run a few steps in a cell of their own first, or record more of them (`%%gpuprofile --steps 50`), "
            "before judging what is slow.",
        )


def _much_of_the_cell(results: Results, start_ns: int) -> bool:
    """Whether the start is a good part of the whole cell, too; True where the cell's length is not known."""
    window = results.context.window
    cell_ns = window.cell_end_ns - window.cell_start_ns if window else 0
    return cell_ns <= 0 or start_ns >= _CELL_SHARE * cell_ns


def _launches(found: StartUp) -> str:
    if not found.first_launches:
        return ""
    kernels = units.plural(found.first_launches, "kernel")
    return f", and with them the first launch of {kernels}, which CUDA loads when it is first launched"
