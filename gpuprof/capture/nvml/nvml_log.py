"""From what a sampler gathered to the ReadingLog: rows in torch's order of devices, reasons in plain words."""

from __future__ import annotations

import msgspec

from gpuprof.capture.nvml.nvml_choice import Choice
from gpuprof.capture.nvml.nvml_device import DeviceReadings
from gpuprof.capture.nvml.nvml_pace import Pace
from gpuprof.capture.nvml.nvml_rows import NvmlRows
from gpuprof.model.readings import ReadingLog, samples_table


def make_log(
    choice: Choice, keep: list[int] | None, rows: NvmlRows, pace: Pace, hz: float, failure: str | None, *, hung: bool
) -> ReadingLog:
    """Build it. `keep` are the devices to report, in that order; None keeps all (the sampler did not end in order)."""
    kept = choice.devices if keep is None else [choice.devices[row] for row in keep]
    position = {device.row: place for place, device in enumerate(kept)}
    readings = [
        msgspec.structs.replace(reading, device=position[reading.device])
        for reading in rows.readings()
        if reading.device in position
    ]
    errors = dict(choice.errors)
    for device in kept:
        errors |= device.all_errors()
    stuck = "a call into the NVIDIA driver did not return: the last readings are missing" if hung else None
    failures = [text for text in (failure, choice.unavailable, stuck) if text]
    return ReadingLog(
        table=samples_table(readings),
        static=tuple(device.facts() for device in kept),
        unavailable=None if readings else _why_empty(failures, errors),
        metric_errors=errors,
        hz_asked=hz,
        hz_reached=pace.hz_reached,
        cost_share=pace.cost_share,
        halvings=pace.halvings,
        notes=(*(failures if readings else ()), *_notes(kept, pace, rows, hz)),
    )


def _why_empty(failures: list[str], errors: dict[str, str]) -> str:
    if failures:
        return failures[0]
    first = next(iter(errors.items()), None)
    return "no reading of any device succeeded" + (f": {first[0]}: {first[1]}" if first else "")


def _notes(devices: list[DeviceReadings], pace: Pace, rows: NvmlRows, hz: float) -> list[str]:
    notes = [
        f"device {device.label} stopped answering during the run ({device.errors['device']})"
        for device in devices
        if device.lost
    ]
    if pace.halvings > rows.thinned:
        notes.append(f"device sampling was slowed from {hz:g} to {pace.hz:g} a second to cost the cell under 1 %")
    if rows.thinned:
        notes.append(f"device readings were thinned to every {2**rows.thinned}th to bound their number in a long run")
    return notes
