"""What the Device tabs of the page and of the dashboard say of energy."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_energy import DeviceEnergy


def energy_rows(results: Results) -> list[tuple[str, str, float]]:
    """Each as its name, its text, and its value in J; none where the energy is unknown."""
    energy = results.get(DeviceEnergy)
    steps = energy.steps
    idle = None if energy.idle_joules is None else energy.idle_joules / max(steps, 1)
    share = f" ({units.percent(energy.idle_share)})" if energy.idle_share is not None else ""
    rows = [
        ("all steps" if steps else "the recorded time", energy.joules, ""),
        ("a step", energy.joules_per_step, ""),
        ("a sample", energy.joules_per_sample, ""),
        ("of a step, while idle" if steps else "while idle", idle, share),
    ]
    return [(name, f"{units.energy(value)}{more}", value) for name, value, more in rows if value is not None]


def energy_note(results: Results) -> str:
    """Where the figures come from, and what they are not."""
    energy = results.get(DeviceEnergy)
    if energy.from_counter:
        return (
            "By the mean power of the device's energy counter over the whole capture; the power itself was not read, "
            "so that the part of the idle time is unknown."
        )
    least = units.energy(energy.idle_least_joules)
    return (
        f"Device {energy.device}, by {units.plural(energy.readings, 'power reading')}. Idle: nothing runs. Gaps "
        "shorter than the distance of two readings get their share of the energy by time, which is the most they can "
        f"have used; all idle time at the lowest power read is {least}. The host's energy is not in it."
    )
