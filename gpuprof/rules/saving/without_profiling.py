"""A saving as a share of the run without the recording, where there is no device to simulate the run for.

Recording costs each operator about the same, so that what is made of operators takes longer and what waits does not.
Where large tensors come and go on the host it may cost much more (measured: steps with tensors of 4 MB 3 to 6 times as
long, by page faults): what torch's profiler keeps of each operator comes to lie beside them on the heap, glibc finds no
room for the next one and takes new memory. Then the cost goes with the operators' time rather than with their number.
`retimed` says the same of runs with a device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.lines.plain_lines import PlainLines
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Saving
from gpuprof.rules.saving.plain_parts import PlainPart, PlainParts

# What recording adds to an operator, of what was tried out on that machine: less where much else runs between them, up
# to twice as much where caches are cold or cores shared.
_COST_SPREAD = (0.5, 1.0, 2.0)
# Of recordings in which it was not: none, as a rule, at most. Measured 1.2 µs (benchmarks/README.md: 41 % of steps of
# 1.2 ms with 423 events).
_COST_NS = (0.0, 1_200.0, 2_400.0)
# Steps with and without recording differ by chance as well.
_SPREAD = 0.25
# No record of an operator takes longer: then it is memory that recording makes dear.
_MOST_COST_NS = 5_000.0
# Of loops that no step without the recording is known of: none of short operators was seen that it slowed more.
_MOST_SLOWDOWN = 1.5
# More was never seen: then the steps after the recording do something else.
_MOST_MEASURED_SLOWDOWN = 8.0
# of the time that is saved: in steps, so that plain iterations show what it is there
_MOSTLY = 0.8
ASSUMED = "without recording, which is taken to cost each operator 1.2 µs (0 to 2.4)"
TRIED = "without recording, which adds {} to an operator on this machine (half to twice that)"
MEASURED = "without recording, by the steps that ran after it"


@dataclass(frozen=True)
class RecordingCost:
    """What recording adds to the main thread, ns of the whole run: `least` ≤ `usual` ≤ `most`.

    `measured`: by the run's own steps with and without it; otherwise assumed. `by_number`: it may go with the number of
    operators; otherwise it goes with their time.
    """

    least: float
    usual: float
    most: float
    measured: bool
    by_number: bool

    @classmethod
    def of(cls, results: Results) -> RecordingCost:
        """Measured no more than the operators take, since waits are not slowed; assumed no more than _MOST_SLOWDOWN."""
        steps, window, main = results.get(StepTime), results.context.window, results.get(MainOperators).each
        recorded, plain = (window.recorded_step_ns, window.plain_step_ns) if window else (None, None)
        if recorded and plain and steps.count and plain <= recorded <= _MOST_MEASURED_SLOWDOWN * plain:
            added = (1 - plain / recorded) * steps.window.total_ns
            short = added <= _MOST_COST_NS * intervals.contains(steps.window, main.starts).sum()
            working = intervals.intersect(steps.window, intervals.union(main)).total_ns
            if added <= working:
                return cls(added * (1 - _SPREAD), added, min(added * (1 + _SPREAD), working), True, bool(short))
        bound = (1 - 1 / _MOST_SLOWDOWN) * results.span_ns
        tried = results.context.cost.operator_ns if results.context.cost else None
        costs = _COST_NS if tried is None else tuple(part * tried for part in _COST_SPREAD)
        least, usual, most = (min(cost * len(main.starts), bound) for cost in costs)
        return cls(least, usual, most, False, True)


def without_recording(results: Results, saving: Saving, ranges_ns: tuple[tuple[int, int], ...]) -> Saving:
    """The saving as a share of the run as it is without the recording; as it is where a device was recorded.

    The central share lies midway between a cost that goes with the number of operators and one that goes with their
    time, where it is measured and could be either; foreseen so, the labelled cells came closest to what was measured.
    `ranges_ns`: where the time lies that is saved, unless the saving itself says `within` what. It holds operators as
    densely as these, and shrinks with them; as densely as the whole run where none are given. Low and high are least
    and most for any cost of recording, and, where that is measured, whether it goes with the operators' number or
    with their time.
    """
    span_ns = results.span_ns
    if saving.calibrated or saving.of_cell or results.get(DeviceActivity).recorded is not None or not span_ns:
        return saving
    named = Intervals(*np.array(ranges_ns, np.int64).reshape(-1, 2).T) if ranges_ns else intervals.EMPTY
    parts_known, within = PlainParts.of(results), intervals.union(saving.within or named)
    if parts_known is not None:
        part = parts_known.part_of(within)
        if part is not None:
            return _of_a_part(saving, parts_known, part)
    cost, own_ns = RecordingCost.of(results), _timing(results)
    of_number, of_time = _parts(results, within, in_steps=cost.measured)
    if of_number is None or of_time is None:
        return saving
    parts = (of_number, of_time) if cost.measured else (of_number,)
    # which of the two it goes with shows only where it is too much for the operators' number
    usual = parts if cost.by_number else (of_time,)

    def share(saved_ns: float, cost_ns: float, part: float) -> float:
        left = max(saved_ns * (1 - cost_ns * part), 0.0)
        return min(left / max(span_ns - cost_ns - own_ns, 1.0), 1.0)

    plain_ns = max(span_ns - cost.usual - own_ns, 1.0)
    central = float(np.mean([share(saving.central_ns, cost.usual, part) for part in usual]))
    ends = [(each, part) for each in (cost.least, cost.most) for part in parts]
    low = min(central, *(share(saving.low_ns, *end) for end in ends))
    high = max(central, *(share(saving.high_ns, *end) for end in ends))
    ceiling = _ceiling(results, parts_known, within)
    low, central, high = (min(each, ceiling) for each in (low, central, high))
    return replace(
        saving,
        low_ns=low * plain_ns,
        central_ns=central * plain_ns,
        high_ns=high * plain_ns,
        share=central,
        basis=f"{saving.basis}; {_words(results, cost)}",
        calibrated=True,
        ceiling_share=ceiling,
    )


def _ceiling(results: Results, plain: PlainParts | None, within: Intervals) -> float:
    """What the lines of that time take of the run without the recording, at most, as sampled stacks of plain iterations
    show; 1 where these do not tell."""
    steps = results.get(StepTime)
    if plain is None or intervals.intersect(within, steps.window).total_ns < _MOSTLY * within.total_ns:
        return 1.0
    share = results.get(PlainLines).most_share(results, within)
    return 1.0 if share is None else min(share * plain.iteration.mean_ns * steps.count / plain.span_ns, 1.0)


def _words(results: Results, cost: RecordingCost) -> str:
    if cost.measured:
        return MEASURED
    tried = results.context.cost.operator_ns if results.context.cost else None
    return ASSUMED if tried is None else TRIED.format(units.duration(tried))


def _of_a_part(saving: Saving, plain: PlainParts, part: PlainPart) -> Saving:
    """A saving of the wait for data, or of the optimizer, by what that part takes in iterations without the recording.

    Low and high are two standard errors further out; none is more than the part.
    """
    off, most_ns = 2 * plain.error, part.share * plain.span_ns
    low_ns, central_ns, high_ns = (
        min(ns * part.factor * (1 + sign * off), most_ns)
        for ns, sign in ((saving.low_ns, -1), (saving.central_ns, 0), (saving.high_ns, 1))
    )
    return replace(
        saving,
        low_ns=max(low_ns, 0.0),
        central_ns=central_ns,
        high_ns=high_ns,
        share=central_ns / plain.span_ns,
        basis=f"{saving.basis}; {MEASURED}",
        calibrated=True,
        ceiling_share=part.share,
    )


def _timing(results: Results) -> float:
    """What the timing of batches took of the main thread, which the waits for them are already without."""
    pipeline = results.get(InputPipeline)
    return pipeline.own_each_ns * int(pipeline.batch.sum())


def _parts(results: Results, within: Intervals, *, in_steps: bool) -> tuple[float | None, float | None]:
    """Which part of all operators of the main thread, by number and by time, a ns of the union holds; None without.

    A ns of the whole run where the union is empty. `in_steps`: of those in the steps, which a cost that was measured is
    the cost of.
    """
    main = results.get(MainOperators).each
    if in_steps:
        begun = intervals.contains(results.get(StepTime).window, main.starts)
        main = Intervals(main.starts[begun], main.ends[begun])
    covered = intervals.union(main)
    if not len(main.starts) or not covered.total_ns:
        return None, None
    if not within.total_ns:
        return 1 / results.span_ns, 1 / results.span_ns
    number = float(intervals.contains(within, main.starts).sum()) / len(main.starts)
    time = intervals.intersect(covered, within).total_ns / covered.total_ns
    return number / within.total_ns, time / within.total_ns
