"""Steps of the same work that take very different times: one median does not stand for them."""

from __future__ import annotations

from typing import Self

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.validity.doubt import Doubt, ValidityCheck
from gpuprof.model import intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FEWEST_STEPS = 9  # three in each third
_MOST_DRIFT = 1.4  # of the medians of thirds
_MOST_SPREAD = 0.4  # half the distance of the quartiles over the median
_UNLIKE = 3.0
# of the time between the ends of steps: then the device sets their pace
_PACED = 0.9
_BY_RECORDING = "Trust figures of unprofiled time; of recorded steps trust shares only."
_REMEDY = "Run the cell again on a quiet machine, or record more steps."


class UnstableSteps(ValidityCheck):
    """Doubtful: figures of an average step stay, and the sentence says how far steps lie apart."""

    order = 60

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the steady steps, of those with the most usual work where their work differs."""
        steps = results.get(StepTime)
        steady = np.flatnonzero(steps.steady)
        steady = steady[_same_work(trace, steady)]
        times = _paced_by_device(trace, results, steady)
        times = steps.durations_ns[steady].astype(np.float64) if times is None else times
        if len(times) < _FEWEST_STEPS or np.median(times) <= 0:
            return cls()
        by_recording = _steady_without_recording(trace)
        drift = _drift(times)
        if drift is not None:
            how = f"{units.duration(drift[0])} at first, {units.duration(drift[1])} later"
            return cls(_said("Step time drifts", how, by_recording))
        low, median, high = np.quantile(times, (0.25, 0.5, 0.75))
        if (high - low) / 2 <= _MOST_SPREAD * median:
            return cls()
        reach = f"the middle half of the steps took {units.duration(low)} to {units.duration(high)}"
        return cls(_said("Step time varies widely", reach, by_recording))


def _paced_by_device(trace: Trace, results: Results, rows: Array) -> Array | None:
    """How far the ends of these steps' work lie apart on the device, ns, where it works nearly all the time.

    The host is ahead of it by as much as the launch queue holds: its own first steps are short until the queue is full.
    None where the device is not the one that sets the pace.
    """
    device = results.get(DeviceActivity).primary
    if device is None or len(rows) < 2:
        return None
    events = trace.device_events.take((trace.device_events["device"] == device.id) & (trace.device_events["step"] >= 0))
    ends = np.zeros(len(trace.steps), np.int64)
    np.maximum.at(ends, events["step"], events["start_ns"] + events["duration_ns"])
    # steps between which none is left out
    both = np.flatnonzero((np.diff(rows) == 1) & (ends[rows[:-1]] > 0) & (ends[rows[1:]] > ends[rows[:-1]]))
    if len(both) < _FEWEST_STEPS:
        return None
    starts, stops = ends[rows[both]], ends[rows[both + 1]]
    busy = intervals.covered(device.busy, starts, stops).sum()
    return (stops - starts).astype(np.float64) if busy >= _PACED * (stops - starts).sum() else None


def _said(what: str, how: str, by_recording: bool) -> Doubt:
    """A quiet machine is no remedy where steps are even without the recording."""
    if by_recording:
        return Doubt(
            code="unstable_steps",
            sentence=f"{what} while it is recorded: {how}. Unrecorded steps are even: either the recording does "
            "that, or the work of early steps differs.",
            remedy=_BY_RECORDING,
        )
    return Doubt(
        code="unstable_steps",
        sentence=f"{what}: {how}. Figures per step are averages of unlike steps.",
        remedy=_REMEDY,
    )


def _steady_without_recording(trace: Trace) -> bool:
    """Whether the iterations that ran without the recording neither drift nor vary."""
    rows = trace.iterations
    times = rows["duration_ns"][rows["plain"]].astype(np.float64)
    if len(times) < _FEWEST_STEPS:
        return False
    # one with an evaluation or a checkpoint in it is no step
    times = times[times <= _UNLIKE * np.median(times)]
    low, median, high = np.quantile(times, (0.25, 0.5, 0.75))
    return len(times) >= _FEWEST_STEPS and (high - low) / 2 <= _MOST_SPREAD * median and _drift(times) is None


def _drift(times: Array) -> tuple[float, float] | None:
    """Medians before and after, ns, where they are far apart; None also where only the beginning was slower.

    That is warm-up: caches, allocators and the tuning of kernels settle.
    """
    first, middle, last = (float(np.median(third)) for third in np.array_split(times, 3))
    if _apart(middle, last):
        return middle, last
    return (first, last) if first < last and _apart(first, last) else None


def _apart(one: float, other: float) -> bool:
    return max(one, other) > _MOST_DRIFT * min(one, other)


def _same_work(trace: Trace, steady: Array) -> Array:
    """Boolean mask over `steady`: the steps with the commonest numbers of operators and of device events.

    All of them where no operator was recorded. Steps of unlike work may take unlike times.
    """
    if not len(steady) or not len(trace.operators):
        return np.ones(len(steady), bool)
    count = len(trace.steps)
    work = np.stack([_per_step(trace.operators["step"], count), _per_step(trace.device_events["step"], count)])
    _, kind_of, sizes = np.unique(work[:, steady], axis=1, return_inverse=True, return_counts=True)
    mask: Array = kind_of.reshape(-1) == int(np.argmax(sizes))
    return mask


def _per_step(steps: Array, count: int) -> Array:
    return np.bincount(steps[steps >= 0], minlength=count)
