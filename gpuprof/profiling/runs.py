"""The runs that can be reached: the last one of this process, and those saved on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, overload

from gpuprof.errors import GpuprofError, UsageError
from gpuprof.model.recording import is_recording
from gpuprof.model.run_store import FOLDER_VARIABLE, runs_folder
from gpuprof.report.saved import RunOnDisk
from gpuprof.report.summary import read_summary
from gpuprof.units import NS_PER_S, duration, plural

if TYPE_CHECKING:
    from gpuprof.run import Run

_MOST_NAMED = 3
_last: Run | Path | None = None


def remember(run: Run | Path) -> None:
    """Make this the last run. A folder stands for a run that has not been read yet."""
    global _last
    _last = run


def last() -> Run:
    """The last run of this process, else the newest saved one; GpuprofError where there is none."""
    if isinstance(_last, Path):
        remember(_load(_last))
    if _last is None:
        saved = history()
        if not saved:
            raise GpuprofError(f"nothing has been profiled yet, and {saved.folder} holds no run; profile a cell first")
        remember(saved[-1].load())
    assert _last is not None and not isinstance(_last, Path)
    return _last


class SavedRun(RunOnDisk):
    """One run on disk: `run_id`, `number` (it counts the runs of its folder), `folder`, `cell`, `error`; `created_ns`
    counts from 1970, `cell_ns` is the wall-clock time of the whole cell.
    """

    def __repr__(self) -> str:
        return f"<gpuprof.SavedRun {self.describe()}>"

    def load(self) -> Run:
        """Read it wholly; RecordingError or TraceError where it cannot be."""
        return _load(self.folder)

    def describe(self) -> str:
        """One line: number, id, when, which cell, how long, a step (unrecorded where known), what was found."""
        when = "unknown time" if self.created_ns is None else f"{_local(self.created_ns):%Y-%m-%d %H:%M:%S}"
        counted = self.cell.execution_count if self.cell else None
        cell = "" if counted is None else f"In [{counted}]"
        number = "" if self.number is None else f"run {self.number}"
        ended = "" if self.error is None else f"raised {self.error}"
        summary = read_summary(self.folder)
        step_ns = summary.usual_step_ns if summary else None
        step = "" if step_ns is None else f"step {duration(step_ns)}"
        found = "" if summary is None else plural(len(summary.findings), "finding")
        fields = (
            number,
            self.run_id,
            when,
            cell,
            f"“{self.name}”" if self.name else "",
            duration(self.cell_ns),
            step,
            found,
            ended,
        )
        return "  ".join(field for field in fields if field)


class History(Sequence[SavedRun]):
    """The saved runs of one folder, oldest first. `unreadable` counts folders left out because they cannot be read."""

    def __init__(self, folder: Path, runs: Sequence[SavedRun], unreadable: int = 0):
        self.folder = folder
        self.unreadable = unreadable
        self._runs = tuple(runs)

    @overload
    def __getitem__(self, index: int) -> SavedRun: ...
    @overload
    def __getitem__(self, index: slice) -> History: ...
    def __getitem__(self, index: int | slice) -> SavedRun | History:
        chosen = self._runs[index]
        return chosen if isinstance(chosen, SavedRun) else History(self.folder, chosen)

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[SavedRun]:
        return iter(self._runs)

    def __repr__(self) -> str:
        lines = [run.describe() for run in self._runs] or [f"No saved runs in {self.folder}."]
        if self.unreadable:
            lines.append(f"{plural(self.unreadable, 'folder')} of {self.folder} could not be read.")
        return "\n".join(lines)


def history(folder: Path | str | None = None) -> History:
    """The saved runs, oldest first: those under `folder`, else where this process saves its own.

    GpuprofError where that folder cannot be found or listed.
    """
    try:
        where = Path(folder) if folder is not None else runs_folder()
    except FileNotFoundError:
        raise GpuprofError(
            f"the working directory has been deleted, and saved runs are looked for in it; change to one that exists, "
            f"or set {FOLDER_VARIABLE}"
        ) from None
    if folder is not None and not where.is_dir():
        raise GpuprofError(f"{folder}: there is no such folder; expected one that holds saved runs, as .gpuprof does")
    try:
        runs, unreadable = SavedRun.all_in(where)
    except OSError as error:
        raise GpuprofError(f"{error.filename or where}: saved runs cannot be listed ({error.strerror})") from error
    return History(where, runs, unreadable)


def find_run(text: str) -> Run | Path:
    """The run that a user names: `last`, a number, id or name (the newest of that name), or the path of a run or trace.

    A saved run is returned as its path, not yet read. UsageError where nothing is called so, GpuprofError where the
    saved runs cannot be looked through.
    """
    if text == "last":
        try:
            return last() if _last is None else _last
        except GpuprofError as error:
            raise UsageError(f"there is no last run: {error}") from error
    path = Path(text).expanduser()
    try:
        saved = history()
    except GpuprofError:
        if path.is_absolute() and (path.is_file() or is_recording(path)):
            return path
        raise
    for run in (*reversed(saved), *reversed(_beside_last(saved.folder))):
        if text in (run.run_id, run.name) or (
            run.number is not None and text in (str(run.number), f"run {run.number}")
        ):
            return run.folder
    if path.is_file() or is_recording(path):
        return path.absolute()
    raise UsageError(f"there is no run {text!r}; {_near(text, saved)}")


def _beside_last(searched: Path) -> History:
    """The runs saved where the last one was: the working directory may have changed since."""
    saved_at = _last if isinstance(_last, Path) or _last is None else _last.folder
    if saved_at is None or saved_at.parent == searched or not saved_at.parent.is_dir():
        return History(searched, ())
    return history(saved_at.parent)


def _near(text: str, saved: History) -> str:
    """The saved runs that may be meant: those called alike, else the newest."""
    known = list(dict.fromkeys(_called(run) for run in reversed(saved)))
    if not known:
        return f"{saved.folder} holds no saved run"
    if alike := get_close_matches(text, known, _MOST_NAMED):
        return f"nearest: {', '.join(alike)}; %gpuhistory lists all"
    rest = "" if len(known) <= _MOST_NAMED else f" and {len(known) - _MOST_NAMED} more; %gpuhistory lists all"
    return f"saved runs: {', '.join(known[:_MOST_NAMED])}{rest}"


def _called(run: SavedRun) -> str:
    return run.name or (run.run_id if run.number is None else str(run.number))


def _load(folder: Path) -> Run:
    from gpuprof.run import Run

    return Run.load(folder)


def _local(ns: int) -> datetime:
    return datetime.fromtimestamp(ns / NS_PER_S).astimezone()
