"""What a check is given: the device, a folder for files, and a record of what it found that survives a kill."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gpu_check.redaction import redacted

SAID = "  · "  # how a line of progress begins
HELD, BROKEN, NO_DEVICE = "held", "did not hold", "needs a CUDA device"


class AbsentError(Exception):
    """What the check needs is not in this environment; its text says what."""


@dataclass
class Check:
    """One check while it runs.

    `device` is `cuda` or `cpu`, `size` `full` or `small`, `arguments` what the plan adds. Files for the archive go
    into `folder` (it exists). `facts` are JSON; `record` is where they are kept after every `note`, `expect` or `skip`.
    """

    name: str
    device: str
    size: str
    folder: Path
    record: Path
    ends_at: float
    arguments: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    expectations: dict[str, bool] = field(default_factory=dict)
    not_tried: list[str] = field(default_factory=list)

    @property
    def on_device(self) -> bool:
        """Whether a CUDA device is used."""
        return self.device == "cuda"

    @property
    def small(self) -> bool:
        """Whether this is a rehearsal."""
        return self.size == "small"

    @property
    def left_s(self) -> float:
        """Seconds until this check is ended from outside."""
        return self.ends_at - time.monotonic()

    def say(self, text: str) -> None:
        """One line of progress."""
        print(f"{SAID}{text}", flush=True)

    def note(self, **facts: Any) -> None:
        """Keep these facts."""
        self.facts.update(facts)
        self.write()

    def expect(self, what: str, holds: bool | None) -> None:
        """Keep whether a thing that must be so is so; None: it cannot be told without a CUDA device."""
        if holds is None:
            self.not_tried.append(what)
        else:
            self.expectations[what] = bool(holds)
            if not holds:
                self.say(f"does not hold: {what}")
        self.write()

    def only_on_device(self, what: str, holds: bool) -> None:
        """`expect` where a CUDA device is used; elsewhere the value is dropped and `what` listed as not tried."""
        self.expect(what, holds if self.on_device else None)

    @property
    def status(self) -> str:
        """Broken where any expectation is, else whether all of it could be tried."""
        if not all(self.expectations.values()):
            return BROKEN
        return NO_DEVICE if self.not_tried else HELD

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "status": self.status,
            "facts": plain(self.facts),
            "expectations": self.expectations,
            "not_tried": self.not_tried,
        }

    def write(self, **more: Any) -> None:
        """The record, whole or not at all."""
        write_json(self.record, {**self.to_dict(), **more})


def plain(value: Any) -> Any:
    """`value` as JSON types: numpy's numbers as Python's, NaN and infinity as null."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def write_json(path: Path, value: Any) -> None:
    """Write it without paths and names, so that a reader sees the old file or the new one, never half of one."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_bytes(redacted(json.dumps(value, indent=1, ensure_ascii=False).encode()))
    fresh.replace(path)
