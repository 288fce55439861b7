"""A good part of the energy goes into idle time, and no rule that names a stall explains it.

What it finds
    At least a fifth of the energy that the device uses in the steps falls on time in which it has nothing to do. The
    power is NVML's, ten readings a second as a rule; idle gaps get their share of it by time, which is the most that
    idling can have used. Where another rule names the cause of the idle time, that one speaks: it is the same time, and
    the energy stands in the report's Device tab.

Why it costs
    A device that idles between kernels keeps its clocks up and draws a good part of its full power: each step pays for
    the wait as well as for the work.

What to do
    What makes the step shorter makes it cheaper: look in the timeline at what the host does in the longest idle
    stretches. Two runs on one device, or a larger batch, spread what remains over more work.

When to leave it
    When time and energy do not matter, or while a model is only being developed.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_energy import DeviceEnergy
from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model import intervals
from gpuprof.rules.base.abstentions import without_device
from gpuprof.rules.base.finding import Abstention, Finding, Severity, Where
from gpuprof.rules.base.known import known
from gpuprof.rules.base.rule import Rule, threshold

_CAUSES = {
    "idle_launch": "launches to arrive",
    "idle_input": "data",
    "idle_sync": "the host, which had waited for it",
    "idle_host": "the host, busy elsewhere",
    "idle_compile": "torch.compile, which compiled",
    "idle_unrecorded": "work from before the recording",
    "idle_unexplained": "nothing that the recording shows",
}


@dataclass(frozen=True)
class EnergyIdle(Rule):
    """See the module."""

    idle_share: float = threshold(0.20, "of the energy of the steps: less comes with every run")
    readings: float = threshold(10, "of the power in the steps: fewer do not show idle and busy time apart")
    resolutions: float = threshold(5, "times the time that one reading is about, in the steps: else it tells of others")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the idle part of the energy."""
        if results.get(DeviceActivity).primary is None:
            return without_device(self.name, results, "the device’s idle time")
        energy = results.get(DeviceEnergy)
        share, resolution = energy.idle_share, energy.resolution_ns
        short = resolution is not None and energy.within_ns < self.resolutions * resolution
        if share is None or energy.readings < self.readings or short:
            return self._abstain(results, energy)
        return self._finding(results, energy, share) if share >= self.idle_share else None

    def _abstain(self, results: Results, energy: DeviceEnergy) -> Abstention:
        reason = results.get(DeviceHealth).unavailable
        least = (energy.resolution_ns or 0) * self.resolutions
        seconds = f", over {units.duration(least)}" if least > energy.within_ns else ""
        return Abstention(
            self.name,
            f"at least {self.readings:.0f} readings of the device’s power in the steps{seconds}",
            "Record for longer (`%%gpuprofile --steps 200`) or read more often (`--nvml-hz 50`); a trace file has none."
            + (f" NVML said: {reason}." if reason else ""),
        )

    def _finding(self, results: Results, energy: DeviceEnergy, share: float) -> Finding:
        count = max(energy.steps, 1)
        each = " a step" if energy.steps else ""
        all_j, idle_j = known(energy.joules) / count, known(energy.idle_joules) / count
        least_j = known(energy.idle_least_joules) / count
        sample = energy.joules_per_sample
        parts = {name: ns for name, ns in results.get(DeviceIdle).by_cause.items() if ns and name in _CAUSES}
        largest = max(parts, key=lambda name: parts[name], default="idle_unexplained")
        cause, idle = _CAUSES[largest], results.get(DeviceIdle).parts.get(largest, intervals.EMPTY)
        return Finding(
            rule=self.name,
            severity=Severity.LOW,
            title=f"Idle time takes {units.percent(share)} of the energy: {units.energy(idle_j)} of "
            f"{units.energy(all_j)}{each}",
            explanation=(
                f"The device had nothing to do for {units.duration(energy.idle_ns)} of "
                f"{units.duration(energy.within_ns)}. By {units.plural(energy.readings, 'power reading')}, shared by "
                f"time, that took {units.energy(idle_j)}{each}; at the lowest power read, {units.energy(least_j)}."
                + (f" A sample costs {units.energy(sample)}." if sample is not None else "")
            ),
            evidence={
                "energy_j_per_step" if each else "energy_j": round(all_j, 3),
                "idle_j_per_step" if each else "idle_j": round(idle_j, 3),
                "idle_least_j_per_step" if each else "idle_least_j": round(least_j, 3),
                "idle_energy_share": round(share, 4),
                **({} if sample is None else {"energy_j_per_sample": round(sample, 4)}),
                "power_readings": energy.readings,
            },
            # without ranges: it speaks of the whole run, and yields to every stall in it
            where=Where(lines=results.get(LinePlaces).cell_lines(idle)),
            change=(
                f"Shorten the idle time: most of it waits for {cause}. The timeline shows what the host does in the "
                "longest idle stretches; a shorter step pays twice, in time and in energy."
            ),
        )
