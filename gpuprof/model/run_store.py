"""Where runs live: one folder a run under `.gpuprof`, the oldest pruned when there are too many or they are too big."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from pathlib import Path

from gpuprof.model.recording import is_recording

FOLDER_VARIABLE = "GPUPROF_FOLDER"
DEFAULT_FOLDER = ".gpuprof"
COUNTER = "runs_counted"
MAX_BYTES = 2 * 1024**3
MAX_RUNS = 50


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


def prune(
    folder: Path, *, keep: Path | None = None, max_bytes: int = MAX_BYTES, max_runs: int = MAX_RUNS
) -> list[Path]:
    """Delete the oldest Recordings of `folder` until at most `max_runs` and `max_bytes` are left; return those deleted.

    `keep` is never deleted, and nothing is that is not a Recording. OSError where a folder cannot be deleted.
    """
    runs = list_runs(folder)
    deleted: list[Path] = []
    total = 0
    for number, run in enumerate(runs, start=1):
        total += folder_bytes(run)
        if run != keep and (number > max_runs or total > max_bytes):
            shutil.rmtree(run)
            deleted.append(run)
    return deleted


def folder_bytes(folder: Path) -> int:
    """The size of the files in a run's folder, in bytes."""
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _age_key(run: Path) -> tuple[float, str]:
    return (run.stat().st_mtime, run.name)
