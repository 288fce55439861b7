"""What a Session hands back: the Recording, saved or not, and a glance at it while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from gpuprof.model.context import RunContext
from gpuprof.model.samples import DeviceSample, SampleLog
from gpuprof.model.schema import HOST_SAMPLES, LINE_EVENTS
from gpuprof.model.table import Table


@dataclass(frozen=True, eq=False)
class Captured:
    """One run, from which the caller makes a Trace.

    `folder` is the saved Recording (None where it could not be saved), `kineto` the packed trace, in that folder or in
    a temporary one that lasts as long as the process (None where no kernel recording came about). `unsaved` is one
    line that says what was not saved and why; None where everything was.
    """

    context: RunContext
    folder: Path | None = None
    kineto: Path | None = None
    device_samples: SampleLog = field(default_factory=SampleLog)
    host_samples: Table = field(default_factory=lambda: Table(HOST_SAMPLES))
    line_events: Table = field(default_factory=lambda: Table(LINE_EVENTS))
    unsaved: str | None = None


@dataclass(frozen=True)
class Live:
    """A glance at a running Session. `state` is `recording`, `waiting` (the kernel recording has ended and may start
    again with the first steps), `sampling` (it has ended, the cell runs on) or `ended`."""

    elapsed_ns: int
    steps: int
    state: str
    recorded_ns: int
    devices: tuple[DeviceSample, ...]
    resident_bytes: int | None
