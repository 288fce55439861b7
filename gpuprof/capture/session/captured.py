"""What a Session hands back: the Recording, saved or not, and its status while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpuprof.capture.profiler.trace_file import Packing
from gpuprof.model.context import RunContext
from gpuprof.model.readings import DeviceFacts, DeviceReading, ReadingLog
from gpuprof.model.schema import HOST_READINGS
from gpuprof.model.table import Table


@dataclass(frozen=True, eq=False)
class Captured:
    """One run, from which the caller makes a Trace.

    `folder` is the saved Recording (None where it could not be saved), `kineto` the packed trace, in that folder or in
    a temporary one that lasts as long as the process (None where no kernel recording came about). `large` are
    tables of `schema.LARGE_TABLES`. `unsaved` is one line that says what was not saved and why; None where
    everything was. With `packing` the trace is as torch wrote it, elsewhere, and its owner has to have it packed or
    dropped.
    """

    context: RunContext
    folder: Path | None = None
    kineto: Path | None = None
    device_readings: ReadingLog = field(default_factory=ReadingLog)
    host_readings: Table = field(default_factory=lambda: Table(HOST_READINGS))
    large: tuple[Table, ...] = ()
    unsaved: str | None = None
    packing: Packing | None = None


@dataclass(frozen=True)
class Live:
    """The status of a running Session. `state` is `recording`, `waiting` (the kernel recording has ended and may start
    again with the first steps), `sampling` (it has ended, the cell runs on) or `ended`.

    `steps` have ended so far, `steps_a_second` over the last few seconds, `steps_wanted` end the kernel recording.
    `batch` of `batches` is where the DataLoader that was asked last stands in its pass. `devices` has the newest
    reading of each device that answers and `readings` those of the last minute, each with its own time; their `device`
    is a position in `facts`.
    """

    elapsed_ns: int = 0
    steps: int = 0
    steps_a_second: float | None = None
    steps_wanted: int = 0
    batch: int | None = None
    batches: int | None = None
    state: str = "ended"
    recorded_ns: int = 0
    devices: tuple[DeviceReading, ...] = ()
    readings: tuple[DeviceReading, ...] = ()
    facts: tuple[DeviceFacts, ...] = ()
    resident_bytes: int | None = None
