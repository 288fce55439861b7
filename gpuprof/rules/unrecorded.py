"""A saving as a share of the run without the recording, where there is no device to re-time the run for.

Recording costs each operator about the same, so that what is made of operators takes longer and what waits does not.
`retimed` says the same of runs with a device.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpuprof.analyses.device_activity import DeviceActivity
from gpuprof.analyses.input_pipeline import InputPipeline
from gpuprof.analyses.result import Results
from gpuprof.analyses.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.rules.finding import Saving

# What recording adds to an operator: none, as a rule, at most. Measured 1.2 µs (benchmarks/README.md: 41 % of steps of
# 1.2 ms with 423 events), up to twice that where caches are cold or cores shared.
_COST_NS = (0.0, 1_200.0, 2_400.0)
# Steps with and without recording differ by chance as well.
_SPREAD = 0.25
# No record takes longer: then steps with and without recording differ for another reason.
_MOST_COST_NS = 5_000.0
# No loop was seen that recording slowed more.
_MOST_SLOWDOWN = 1.5
ASSUMED = "without recording, which is taken to cost each operator 1.2 µs (0 to 2.4)"
MEASURED = "without recording, by the steps that ran after it"


@dataclass(frozen=True)
class RecordingCost:
    """What recording adds to each operator of the main thread, ns: `least` ≤ `usual` ≤ `most`.

    `measured`: by the run's own steps with and without it; otherwise assumed.
    """

    least: float
    usual: float
    most: float
    measured: bool

    @classmethod
    def of(cls, results: Results) -> RecordingCost:
        """Never so much that the run would be more than _MOST_SLOWDOWN times as long."""
        trace, steps = results.trace, results.get(StepTime)
        operators, window = trace.operators, trace.context.window
        main = operators["start_ns"][operators["thread"] == trace.main_thread]
        bound = (1 - 1 / _MOST_SLOWDOWN) * trace.span_ns / max(len(main), 1)
        each = int(intervals.contains(steps.window, main).sum()) / steps.count if steps.count else 0.0
        recorded, plain = (window.recorded_step_ns, window.plain_step_ns) if window else (None, None)
        seen = (recorded - plain) / each if recorded and plain and each else -1.0
        measured = 0 <= seen <= _MOST_COST_NS
        costs = (seen * (1 - _SPREAD), seen, seen * (1 + _SPREAD)) if measured else _COST_NS
        least, usual, most = (min(cost, bound) for cost in costs)
        return cls(least, usual, most, measured)


def without_recording(results: Results, saving: Saving, ranges_ns: tuple[tuple[int, int], ...]) -> Saving:
    """The saving as a share of the run as it is without the recording; as it is where a device was recorded.

    `ranges_ns`: where the time lies that is saved. It holds operators as densely as these, and shrinks with them; as
    densely as the whole run where none are given. Low and high are the least and the most for any cost of recording.
    """
    trace, span_ns = results.trace, results.trace.span_ns
    main = trace.operators["start_ns"][trace.operators["thread"] == trace.main_thread]
    if saving.calibrated or results.get(DeviceActivity).recorded is not None or not span_ns or not len(main):
        return saving
    cost, all_of_it, own_ns = RecordingCost.of(results), len(main) / span_ns, _timing(results)
    dense = _density(main, ranges_ns) if ranges_ns else all_of_it

    def share(saved_ns: float, cost_ns: float) -> float:
        left = max(saved_ns * (1 - cost_ns * dense), 0.0)
        return min(left / max(span_ns * (1 - cost_ns * all_of_it) - own_ns, 1.0), 1.0)

    plain_ns = max(span_ns * (1 - cost.usual * all_of_it) - own_ns, 1.0)
    central = share(saving.central_ns, cost.usual)
    low = min(share(saving.low_ns, each) for each in (cost.least, cost.most))
    high = max(share(saving.high_ns, each) for each in (cost.least, cost.most))
    return replace(
        saving,
        low_ns=low * plain_ns,
        central_ns=central * plain_ns,
        high_ns=high * plain_ns,
        share=central,
        basis=f"{saving.basis}; {MEASURED if cost.measured else ASSUMED}",
        calibrated=True,
    )


def _timing(results: Results) -> float:
    """What the timing of batches took of the main thread, which the waits for them are already without."""
    pipeline = results.get(InputPipeline)
    return pipeline.own_each_ns * int(pipeline.batch.sum())


def _density(times: Array, ranges_ns: tuple[tuple[int, int], ...]) -> float:
    """Of these instants, how many a ns of the ranges holds."""
    within = intervals.union(Intervals(*np.array(ranges_ns, np.int64).reshape(-1, 2).T))
    return float(intervals.contains(within, times).sum()) / within.total_ns if within.total_ns else 0.0
