"""By how much what a change leaves may take more or less time than in this run: a prediction has to allow for it.

Of the steps as recorded, half lie within the quartiles: what varies from step to step may be otherwise in the next run.
What stays the same within a run but not from run to run, or is another once the fault is gone (where memory lies, what
the caches hold, who has the cores), is added from experience.
"""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime

# Of the rest of a step. The same cell, run four times, lay up to 12 % from its median run in half of 14 labelled cells
# and up to 37 % in the worst of them (benchmarks/between_runs.py); what a cure leaves differs more than that.
_ON_THE_HOST = 0.30
# Not yet measured: kernels take the same time again, launches do not.
_ON_A_DEVICE = 0.05
_MOST = 0.5
_FEWEST_STEPS = 4


def spread_of_the_rest(results: Results) -> float:
    """Relative, 0..0.5: what a change leaves may be shorter or longer by this part of itself."""
    least = _ON_A_DEVICE if results.get(DeviceActivity).recorded else _ON_THE_HOST
    steps = results.get(StepTime)
    steady = steps.durations_ns[steps.steady]
    if len(steady) < _FEWEST_STEPS:
        return least
    lower, median, upper = np.quantile(steady, (0.25, 0.5, 0.75))
    if median <= 0:
        return least
    # where steps drift, the next run may be like the last third of this one
    late = abs(float(np.median(np.array_split(steady, 3)[-1])) - median)
    return float(min(max(least, (upper - lower) / (2 * median), late / median), _MOST))
