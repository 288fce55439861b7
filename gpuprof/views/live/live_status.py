"""The status of a running capture in words and shares, ready to be drawn. Plain JSON types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuprof import units
from gpuprof.analyses.device.device_health import REASONS
from gpuprof.units import NS_PER_S

if TYPE_CHECKING:
    from gpuprof.capture.session.captured import Live
    from gpuprof.model.readings import DeviceFacts, DeviceReading

CURVE_S = 60.0
_W_PER_MW = 1e-3
_SPEED_HELD = {name: bit for name, bit in REASONS.items() if name not in ("clocks_set", "sync_boost", "display_clocks")}


def live_status(live: Live) -> dict[str, Any]:
    """`elapsed`, `doing`, `steps` and `memory` are texts; `progress` is 0..1, or None where the length is not known.

    `devices`: `name`, `gauges` (`label`, `text`, `share` 0..1 or None), `warning` and `curve`: `ago_s` (seconds before
    now, falling) with `utilisation` and `memory` (0..1 or None) of the same length.
    """
    return {
        "elapsed": units.duration(live.elapsed_ns),
        "doing": _doing(live),
        "steps": _steps(live),
        "progress": live.batch / live.batches if live.batch is not None and live.batches else None,
        "memory": f"process {units.size(live.resident_bytes)}" if live.resident_bytes else "",
        "devices": [_device(live, reading) for reading in live.devices],
    }


def _doing(live: Live) -> str:
    if live.state == "recording":
        if 0 < live.steps < live.steps_wanted:
            return f"recording, step {live.steps + 1} of {live.steps_wanted}"
        return "recording"
    if live.state == "ended":
        return "the cell has ended"
    return "kernels are recorded; sampling to the end of the cell"


def _steps(live: Live) -> str:
    parts = [units.plural(live.steps, "step")] if live.steps else []
    if live.steps_a_second is not None:
        rate = live.steps_a_second
        parts.append(f"{rate:.3g} a second" if rate >= 1 or rate <= 0 else f"{1 / rate:.3g} s a step")
    if live.batch is not None and live.batches:
        parts.append(f"batch {live.batch} of {live.batches}")
    return " · ".join(parts)


def _device(live: Live, reading: DeviceReading) -> dict[str, Any]:
    facts = live.facts[reading.device] if reading.device < len(live.facts) else None
    return {
        "name": (facts.name if facts else None) or f"device {reading.device}",
        "gauges": [gauge for gauge in _gauges(reading, facts) if gauge["text"]],
        "warning": _warning(reading),
        "curve": _curve(live, reading.device, facts),
    }


def _gauges(reading: DeviceReading, facts: DeviceFacts | None) -> list[dict[str, Any]]:
    used, limit = reading.memory_used_bytes, facts.memory_bytes if facts else None
    power, most_power = reading.power_mw, facts.power_limit_mw if facts else None
    busy, heat = reading.utilisation_percent, reading.temperature_c
    return [
        _gauge("utilisation", units.percent(busy / 100) if busy is not None else "", busy, 100),
        _gauge("memory", _of(units.size(used), units.size(limit), used, limit), used, limit),
        _gauge("power", _of(_watts(power), _watts(most_power), power, most_power), power, most_power),
        _gauge("temperature", "" if heat is None else units.temperature(heat), None, None),
    ]


def _gauge(label: str, text: str, value: float | None, most: float | None) -> dict[str, Any]:
    return {"label": label, "text": text, "share": min(value / most, 1.0) if value is not None and most else None}


def _of(value: str, most: str, known: float | None, limit: float | None) -> str:
    if known is None:
        return ""
    return f"{value} of {most}" if limit else value


def _watts(power_mw: int | None) -> str:
    return units.power(power_mw * _W_PER_MW) if power_mw is not None else ""


def _warning(reading: DeviceReading) -> str:
    held = reading.clock_reasons or 0
    names = [name.replace("_", " ") for name, bit in _SPEED_HELD.items() if held > 0 and held & bit]
    return f"clocks held down: {', '.join(names)}" if names else ""


def _curve(live: Live, device: int, facts: DeviceFacts | None) -> dict[str, list[float | None]]:
    own = [reading for reading in live.readings if reading.device == device]
    if not own:
        return {"ago_s": [], "utilisation": [], "memory": []}
    newest, limit = own[-1].monotonic_ns, facts.memory_bytes if facts else None
    shown = [reading for reading in own if (newest - reading.monotonic_ns) / NS_PER_S <= CURVE_S]
    return {
        "ago_s": [round((newest - reading.monotonic_ns) / NS_PER_S, 2) for reading in shown],
        "utilisation": [None if s.utilisation_percent is None else s.utilisation_percent / 100 for s in shown],
        "memory": [s.memory_used_bytes / limit if s.memory_used_bytes and limit else None for s in shown],
    }
