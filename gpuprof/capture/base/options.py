"""What the user may choose about one capture, checked before anything runs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec

from gpuprof.errors import UsageError

DEFAULT_SKIP = 2
# enough for a median and its spread, and with the 2,000 to 20,000 events of a usual step well under a million events
DEFAULT_STEPS = 20
# very short steps: a window of some milliseconds would catch nothing that comes now and then
DEFAULT_LEAST_SECONDS = 1.0
DEFAULT_MAX_SECONDS = 60.0
_MAX_NVML_HZ = 50.0


class CaptureOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of one capture. UsageError, one line, where a value makes no sense.

    `name` labels the run. `skip` (None: 2) steps are recorded but counted as warm-up, then `steps` steps more (None:
    20, more until a second or many events of them have been recorded, fewer where they are long), then the kernel
    recording ends and the cell runs on.
    `max_seconds` (None: 60) bounds it in time. `memory`, `stacks` and `shapes` switch on what the profiler can record
    beside the default, at a cost.
    `nvml_hz` is how often the devices are sampled, in readings a second; `no_nvml` leaves that out, `no_lines` the
    following of lines. `close_look` looks closely at a few iterations after the recorded ones however short the cell
    is (of a cell without steps 2 s are then recorded), `no_close_look` never. `inspect` also counts the
    zeros of matrices on CUDA devices, and of small and very large ones. `folder` is where run folders go (None:
    the environment variable GPUPROF_FOLDER, else `.gpuprof` in the working directory).
    """

    name: str | None = None
    steps: int | None = None
    skip: int | None = None
    max_seconds: float | None = None
    memory: bool = False
    stacks: bool = False
    shapes: bool = False
    nvml_hz: float = 10.0
    no_nvml: bool = False
    no_lines: bool = False
    close_look: bool = False
    no_close_look: bool = False
    inspect: bool = False
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise UsageError(f"--steps {self.steps}: expected a whole number of at least 1")
        if self.skip is not None and self.skip < 0:
            raise UsageError(f"--skip {self.skip}: expected a whole number of at least 0")
        if self.max_seconds is not None and not (0 < self.max_seconds < math.inf):
            raise UsageError(f"--max-seconds {self.max_seconds:g}: expected a number of seconds above 0")
        if not 0 < self.nvml_hz <= _MAX_NVML_HZ:
            raise UsageError(
                f"--nvml-hz {self.nvml_hz:g}: expected readings a second, above 0 and at most {_MAX_NVML_HZ:g}"
            )
        if self.close_look and self.no_close_look:
            raise UsageError("--close-look and --no-close-look: expected one of them")
        if self.inspect and self.no_close_look:
            raise UsageError("--inspect and --no-close-look: expected one of them")

    @property
    def steps_to_skip(self) -> int:
        """`skip`, or its default."""
        return DEFAULT_SKIP if self.skip is None else self.skip

    @property
    def steps_to_record(self) -> int:
        """`steps`, or its default."""
        return DEFAULT_STEPS if self.steps is None else self.steps

    @property
    def least_seconds(self) -> float:
        """How long to record even where enough steps have been seen: 0 where their number was chosen."""
        return DEFAULT_LEAST_SECONDS if self.steps is None else 0.0

    @property
    def seconds_to_record(self) -> float:
        """`max_seconds`, or its default."""
        return DEFAULT_MAX_SECONDS if self.max_seconds is None else self.max_seconds

    def to_dict(self) -> dict[str, Any]:
        """For `RunContext.options`: every option with its effective value."""
        effective = {
            "steps": self.steps_to_record,
            "skip": self.steps_to_skip,
            "max_seconds": self.seconds_to_record,
            "folder": None if self.folder is None else str(self.folder),
        }
        return {**msgspec.structs.asdict(self), **effective}
