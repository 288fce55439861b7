"""Where runs live: one folder per run under `.gpuprof`."""

from __future__ import annotations

import os
import re
import secrets
import time
from pathlib import Path

from gpuprof.model.recording import is_recording

FOLDER_VARIABLE = "GPUPROF_FOLDER"
DEFAULT_FOLDER = ".gpuprof"
COUNTER = "runs_counted"
_RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}")


def runs_folder(folder: Path | None = None) -> Path:
    """Where run folders go: `folder`, else $GPUPROF_FOLDER, else `.gpuprof` in the working directory.

    An absolute path. FileNotFoundError where that takes the working directory and it has been deleted.
    """
    chosen = folder or os.environ.get(FOLDER_VARIABLE) or DEFAULT_FOLDER
    return Path(chosen).absolute()


def new_run_id(time_ns: int | None = None) -> str:
    """A name such as `20260301-142530-9f3a1c`: sorts by time, and is unique."""
    seconds = (time.time_ns() if time_ns is None else time_ns) / 1e9
    return f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(seconds))}-{secrets.token_hex(3)}"


def is_run_id(name: str) -> bool:
    """Whether a name is one that `new_run_id` makes."""
    return _RUN_ID.fullmatch(name) is not None


def make_run_folder(runs: Path, run_id: str) -> Path:
    """Create and return the folder of one run; OSError where it cannot be."""
    # a working directory that the cell has deleted is not made again
    runs.mkdir(parents=runs.name != DEFAULT_FOLDER, exist_ok=True)
    ignore = runs / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    folder = runs / run_id
    folder.mkdir()
    return folder


def next_run_number(runs: Path) -> int:
    """Count one run more in this folder and return its number, from 1; OSError where that cannot be written."""
    counter = runs / COUNTER
    try:
        number = int(counter.read_text()) + 1
    except (OSError, ValueError):  # the first run here, or a counter that something else wrote
        number = len(list_runs(runs)) + 1
    counter.write_text(f"{number}\n")
    return number


def list_runs(folder: Path | None = None) -> list[Path]:
    """The saved runs, newest first: the folders under `folder` (as `runs_folder` finds it) that hold a Recording."""
    runs = runs_folder(folder)
    if not runs.is_dir():
        return []
    return sorted((path for path in runs.iterdir() if is_recording(path)), key=_age_key, reverse=True)


def _age_key(run: Path) -> tuple[float, str]:
    return (run.stat().st_mtime, run.name)
