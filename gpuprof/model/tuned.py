"""The settings that `%gputune` found for a run's cell, kept beside the Recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from gpuprof.errors import RecordingError

TUNED = "tuned.json"


class Tuned(msgspec.Struct, frozen=True, kw_only=True):
    """The newest search. `settings`: the best, empty where none was measured to be faster; `source`: the cell with
    them, as typed; `ratio`: time before ÷ time after. `tuning` is the whole of it, `text` one line."""

    settings: tuple[str, ...]
    source: str
    ratio: float | None
    text: str
    tuning: dict[str, Any]
    created_ns: int


def read_tuned(folder: Path) -> Tuned | None:
    """What was found for the run in this folder; RecordingError where the file holds something else."""
    path = folder / TUNED
    try:
        return msgspec.json.decode(path.read_bytes(), type=Tuned)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: {error}; expected what %gputune found; delete it to go on without") from error


def write_tuned(folder: Path, tuned: Tuned) -> None:
    """Write it; OSError where the folder cannot be written."""
    (folder / TUNED).write_bytes(msgspec.json.format(msgspec.json.encode(tuned), indent=1))
