"""What a device used of energy in the steps, and how much of it while it was idle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity, DeviceTotals
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.device.device_health import device_facts
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.readings import DeviceFacts
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

# a longer time without a reading is unknown
_LONGEST_NS = NS_PER_S
_COVERED = 0.9
_AVERAGED_NS = NS_PER_S


@dataclass(frozen=True)
class DeviceEnergy(Result):
    """Energy of the first device over its steps (over the span where no steps are known). None is *unknown*.

    Between two power readings (10 a second, as a rule) the power counts as the mean of both (trapezoids); the parts of
    that time in which the device had nothing to do, gaps of microseconds included, get their share of its energy *by
    time*. A device draws less while it is idle, so that `idle_joules` is at most what idling used where gaps are
    shorter than the distance of the readings; `idle_least_joules`, all idle time at the lowest power read, is at least
    about that.
    `joules` is unknown where the readings cover less than nine tenths of the time, and for a part of a device (MIG).
    Without readings it is the mean power of the device's energy counter over the whole capture × the time
    (`from_counter`; the idle part is then unknown).
    `steps`: their number, 0 where none are known. `samples`: those of the batches read in the steps, where one loader
    with a batch size was waited for. `readings`: of the power, in that time. `resolution_ns`: the median distance of
    two, at least 1 s where the driver gives averages over 1 s.
    """

    device: int | None = None
    within_ns: int = 0
    idle_ns: int = 0
    joules: float | None = None
    idle_joules: float | None = None
    idle_least_joules: float | None = None
    steps: int = 0
    samples: int | None = None
    readings: int = 0
    resolution_ns: int | None = None
    from_counter: bool = False

    @property
    def idle_share(self) -> float | None:
        """Idle energy ÷ all, 0..1."""
        return self.idle_joules / self.joules if self.joules and self.idle_joules is not None else None

    @property
    def joules_per_step(self) -> float | None:
        """All energy ÷ steps."""
        return self.joules / self.steps if self.joules is not None and self.steps else None

    @property
    def joules_per_sample(self) -> float | None:
        """All energy ÷ samples."""
        return self.joules / self.samples if self.joules is not None and self.samples else None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device readings, the device's busy time and the steps."""
        use = results.get(DeviceActivity).primary
        found = None if use is None else _sampled(trace, use)
        if use is None or found is None:
            return cls()
        row, facts = found
        steps = intervals.union(intervals.of(trace.steps))
        within = steps if len(steps.starts) else intervals.single(trace.span_start_ns, trace.span_end_ns)
        idle = intervals.subtract(within, use.busy)
        readings = trace.device_readings
        readings = readings.take((readings["device"] == row) & (readings["power_mw"] >= 0))
        readings = readings.take(np.argsort(readings["time_ns"], kind="stable"))
        times, power = readings["time_ns"], readings["power_mw"]
        whole, idling = (_joules(times, power, part, within) for part in (within, idle))
        mean = None if len(times) else _mean_power(facts)
        return cls(
            device=use.id,
            within_ns=within.total_ns,
            idle_ns=idle.total_ns,
            joules=whole if mean is None else mean * within.total_ns / NS_PER_S,
            idle_joules=idling,
            idle_least_joules=None if idling is None else float(power.min()) / 1000 * idle.total_ns / NS_PER_S,
            steps=len(trace.steps),
            samples=_samples(results),
            readings=int(intervals.contains(within, times).sum()),
            resolution_ns=_resolution(readings["time_ns"], facts),
            from_counter=mean is not None,
        )


def _sampled(trace: Trace, use: DeviceTotals) -> tuple[int, DeviceFacts] | None:
    """The sampler's row of that device, by torch's number; of a single sampled device without one, if one is used."""
    facts = device_facts(trace)
    rows = [row for row, each in enumerate(facts) if each.torch_index == use.id]
    if not rows and len(facts) == 1 and facts[0].torch_index is None and len(trace.device_ids) == 1:
        rows = [0]
    return (rows[0], facts[rows[0]]) if len(rows) == 1 and not facts[rows[0]].mig else None


def _joules(times: Array, power_mw: Array, part: Intervals, within: Intervals) -> float | None:
    """Energy in `part`; None where the readings do not cover `within`."""
    if len(times) < 2:
        return None
    begins, ends = times[:-1], times[1:]
    near = ends - begins <= _LONGEST_NS
    if intervals.covered(within, begins, ends)[near].sum() < _COVERED * within.total_ns:
        return None
    watts = (power_mw[:-1] + power_mw[1:]) / 2 / 1000
    inside = intervals.covered(part, begins, ends)
    covered_ns = int(inside[near].sum())
    # the little that no reading covers counts like the rest
    return float((watts * inside)[near].sum() / NS_PER_S) * part.total_ns / covered_ns if covered_ns else 0.0


def _mean_power(facts: DeviceFacts) -> float | None:
    """W, by the energy counter."""
    if not facts.energy_mj or not facts.energy_span_ns:
        return None
    return facts.energy_mj / 1000 / (facts.energy_span_ns / NS_PER_S)


def _resolution(times: Array, facts: DeviceFacts) -> int | None:
    if len(times) < 2:
        return None
    distance = int(np.median(np.diff(times)))
    return max(distance, _AVERAGED_NS) if facts.power_source == "driver" else distance


def _samples(results: Results) -> int | None:
    loader, pipeline = results.get(StallingLoader).loader, results.get(InputPipeline)
    batches = int(pipeline.batch.sum())
    return loader.batch_size * batches if loader and loader.batch_size and batches else None
