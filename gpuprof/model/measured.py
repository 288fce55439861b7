"""What was measured of a run's findings: each change tried against the original, kept beside the Recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gpuprof.errors import RecordingError

MEASURED = "measured.json"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One measured change: the finding by its number (from 1) and rule, the measurement in one line and as an object.

    `together`: the numbers of several findings whose changes were measured as one; `rule` then joins theirs by " + ".
    """

    number: int
    rule: str
    text: str
    measurement: dict[str, Any] = msgspec.field(name="verdict")  # the name that saved runs have
    created_ns: int
    together: tuple[int, ...] = ()


def read_measured(folder: Path) -> tuple[Measured, ...]:
    """What was measured of the run in this folder, oldest first; RecordingError where the file is no such list."""
    path = folder / MEASURED
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Measured, ...])
    except FileNotFoundError:
        return ()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: {error}; expected what %gputry measured; delete it to go on without") from error


def write_measured(folder: Path, measured: tuple[Measured, ...]) -> None:
    """Write all of it; OSError where the folder cannot be written."""
    (folder / MEASURED).write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1))
