"""Where the time of an iteration goes without the recording: its measured length, divided as the recorded steps are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.intervals import EMPTY, Intervals
from gpuprof.model.trace import Trace

# timed by the device itself: recording does not lengthen them
_DEVICE_WORK = ("compute", "exposed_copy", "exposed_collective", "memset")
_INPUT = ("input_wait", "idle_input")


@dataclass(frozen=True)
class PlainBudget(Result):
    """A mean iteration without the recording. `total_ns` is its length, None where it is not known.

    `shares`: of each category of the time budget in it, 0..1, 1 together. Device work keeps its recorded length, the
    wait for data and the optimizer have been timed by themselves, and what is left is divided as in the recorded steps.
    `error`: the standard error of `total_ns`, as a share of it.
    """

    total_ns: float | None = None
    shares: Mapping[str, float] = field(default_factory=dict)
    error: float = 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the iterations outside the recording, and the budget of the recorded steady steps."""
        plain, steps, budget = results.get(PlainIterations).plain, results.get(StepTime), results.get(TimeBudget)
        if plain is None or not plain.mean_ns or not budget.parts or not steps.steady.any():
            return cls()
        steady = intervals.union(intervals.of(trace.steps.take(steps.steady)))
        inside = {name: intervals.intersect(part, steady) for name, part in budget.parts.items()}
        known = _known(inside, int(steps.steady.sum()), results)
        optimizer, rest = _in_and_outside(inside, known, results)
        known |= _divided(optimizer, plain.optimizer_ns)
        for name, ns in _divided(rest, max(plain.mean_ns - sum(known.values()), 0.0)).items():
            known[name] = known.get(name, 0.0) + ns
        total = sum(known.values())
        return cls(plain.mean_ns, {name: known.get(name, 0.0) / total for name in inside} if total else {}, plain.error)


def _known(inside: Mapping[str, Intervals], steps: int, results: Results) -> dict[str, float]:
    """Device work and the wait for data in an iteration, ns."""
    found = results.get(PlainIterations)
    assert found.plain is not None
    on_device = results.get(TimeBudget).device is not None
    known = {}
    for name, part in inside.items():
        each_ns = part.total_ns / steps
        if name in _DEVICE_WORK:
            known[name] = each_ns
        elif name in _INPUT:
            by_hooks = not on_device and each_ns and found.plain.wait_ns
            known[name] = found.plain.wait_ns if by_hooks else each_ns * found.wait_factor
    return known


def _in_and_outside(
    inside: Mapping[str, Intervals], known: Mapping[str, float], results: Results
) -> tuple[dict[str, int], dict[str, int]]:
    """What is left, ns by category: in the optimizer, where the budget is the host's; and elsewhere."""
    left = {name: part for name, part in inside.items() if name not in known}
    optimizer = results.get(Phases).optimizer if results.get(TimeBudget).device is None else EMPTY
    in_it = {name: intervals.intersect(part, optimizer).total_ns for name, part in left.items()}
    return in_it, {name: part.total_ns - in_it[name] for name, part in left.items()}


def _divided(as_recorded: Mapping[str, int], total_ns: float) -> dict[str, float]:
    together = sum(as_recorded.values())
    return {name: ns * total_ns / together for name, ns in as_recorded.items()} if together else {}
