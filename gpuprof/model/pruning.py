"""Deletes the oldest saved runs when there are too many or they are too big, and never what gpuprof did not write."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gpuprof import units
from gpuprof.errors import UsageError
from gpuprof.model.recording import FILES, MANIFEST, written_by_gpuprof
from gpuprof.model.run_store import is_run_id

RUNS_VARIABLE = "GPUPROF_KEEP_RUNS"
BYTES_VARIABLE = "GPUPROF_KEEP_BYTES"
NO_LIMIT = "all"
MAX_RUNS = 50
MAX_BYTES = 2 * 1024**3

_RUNS = re.compile(r"0*[1-9][0-9]{0,17}")
_BYTES = re.compile(r"(0*[1-9][0-9]{0,17})\s*(B|KiB|MiB|GiB|TiB)?", re.IGNORECASE)
_UNITS = ("b", "kib", "mib", "gib", "tib")


@dataclass(frozen=True)
class Limits:
    """How many runs a folder keeps, and how many bytes of them; None: no limit."""

    runs: int | None = MAX_RUNS
    bytes: int | None = MAX_BYTES

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """Those that the environment variables set; UsageError, with one clear line, where a value is not a limit."""
        runs = environment.get(RUNS_VARIABLE, "").strip() or str(MAX_RUNS)
        size = environment.get(BYTES_VARIABLE, "").strip() or str(MAX_BYTES)
        if runs != NO_LIMIT and not _RUNS.fullmatch(runs):
            raise _not_a_limit(RUNS_VARIABLE, runs, "a number of runs, such as 50,")
        found = _BYTES.fullmatch(size)
        if size != NO_LIMIT and not found:
            raise _not_a_limit(BYTES_VARIABLE, size, "a number of bytes, such as 2147483648 or 2 GiB,")
        return cls(
            None if runs == NO_LIMIT else int(runs),
            int(found[1]) * 1024 ** _UNITS.index((found[2] or "B").lower()) if found else None,
        )

    def passed_by(self, runs: int, size: int) -> bool:
        """Whether so many runs of so many bytes are too many."""
        return (self.runs is not None and runs > self.runs) or (self.bytes is not None and size > self.bytes)

    def __str__(self) -> str:
        runs = "any number of runs" if self.runs is None else units.plural(self.runs, "run")
        return f"{runs} and {'any size' if self.bytes is None else units.size(self.bytes)}"


@dataclass(frozen=True)
class Pruned:
    """What `prune` did.

    `deleted`: the runs, `deleted_bytes` of them; `left`: those of them whose folder stays, because it holds files of
    somebody else; `failed`: runs that could not be deleted. `note` says it in one line; None: nothing to say.
    """

    deleted: tuple[Path, ...] = ()
    deleted_bytes: int = 0
    left: tuple[Path, ...] = ()
    failed: tuple[Path, ...] = ()
    note: str | None = None


def prune(folder: Path, *, keep: Path | None = None, limits: Limits | None = None) -> Pruned:
    """Delete the oldest runs of `folder` until `limits` (None: those of the environment) hold. `keep` always stays.

    A run is a folder, not a link to one, whose name is a run id and whose manifest gpuprof wrote for that id. Of a run
    only the files that gpuprof writes are deleted. OSError where `folder` cannot be listed.
    """
    try:
        limits = Limits.of(os.environ) if limits is None else limits
    except UsageError as error:
        return Pruned(note=f"No older run was deleted: {error}.")
    deleted: dict[Path, int] = {}
    left: list[Path] = []
    failed: list[Path] = []
    total = 0
    for number, run in enumerate(_newest_first(folder, keep), start=1):
        size = _size(run)
        total += size
        if run == keep or not limits.passed_by(number, total):
            continue
        try:
            if not _delete(run):
                left.append(run)
            deleted[run] = size
        except OSError:
            failed.append(run)
    note = _note(deleted, left, failed, limits)
    return Pruned(tuple(deleted), sum(deleted.values()), tuple(left), tuple(failed), note)


def _not_a_limit(variable: str, value: str, expected: str) -> UsageError:
    return UsageError(f"{variable} is {ascii(value)[:60]}; expected {expected} or `{NO_LIMIT}` for no limit")


def _newest_first(folder: Path, keep: Path | None) -> list[Path]:
    """The runs of a folder, `keep` before all others."""
    runs = [path for path in folder.iterdir() if path == keep or _is_ours(path)]
    return sorted(runs, key=lambda run: (run == keep, _changed_s(run), run.name), reverse=True)


def _is_ours(run: Path) -> bool:
    return (
        is_run_id(run.name)
        and stat.S_ISDIR(_mode(run))
        and stat.S_ISREG(_mode(run / MANIFEST))
        and written_by_gpuprof(run)
    )


def _own_files(run: Path) -> Iterator[Path]:
    """The files that gpuprof writes, the manifest last: until that is gone, the rest is known as a run."""
    files = [run / name for name in FILES if name != MANIFEST]
    return (path for path in (*files, run / MANIFEST) if stat.S_ISREG(_mode(path)))


def _mode(path: Path) -> int:
    """The type of what the path names, of a link the link's own; 0 where there is nothing to be seen."""
    found = _stat(path)
    return found.st_mode if found else 0


def _changed_s(path: Path) -> float:
    found = _stat(path)
    return found.st_mtime if found else 0.0


def _size(run: Path) -> int:
    return sum(found.st_size for path in _own_files(run) if (found := _stat(path)))


def _stat(path: Path) -> os.stat_result | None:
    """Of a link the link's own; None where there is nothing, or another notebook has just deleted it."""
    try:
        return path.lstat()
    except OSError:
        return None


def _delete(run: Path) -> bool:
    """Delete what gpuprof wrote, and the folder; false where that stays, as it holds something else."""
    for path in _own_files(run):
        path.unlink(missing_ok=True)
    try:
        run.rmdir()
    except FileNotFoundError:  # another notebook did it
        return True
    except OSError:
        if any(run.iterdir()):
            return False
        raise
    return True


def _note(deleted: Mapping[Path, int], left: list[Path], failed: list[Path], limits: Limits) -> str | None:
    said = []
    if deleted:
        runs, size = units.plural(len(deleted), "older run"), units.size(sum(deleted.values()))
        said.append(f"{runs} deleted ({_named(list(deleted))}, {size})")
    if left:
        said.append(f"files that gpuprof did not write stay in {_named(left)}")
    if failed:
        said.append(f"{units.plural(len(failed), 'older run')} could not be deleted ({_named(failed)})")
    if not said:
        return None
    return f"{'; '.join(said)}. {RUNS_VARIABLE} and {BYTES_VARIABLE} set how much is kept, now {limits}."


def _named(runs: list[Path]) -> str:
    more = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return f"{runs[0].name}{more}"
