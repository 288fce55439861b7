"""Writes a Recording, and says in one line what could not be written and why."""

from __future__ import annotations

import contextlib
import errno
import shutil
from pathlib import Path

import msgspec

from gpuprof.capture.profiler.trace_file import temporary_folder
from gpuprof.model.context import RunContext
from gpuprof.model.pruning import prune
from gpuprof.model.recording import write_context, write_large_table, write_table
from gpuprof.model.run_store import make_run_folder, next_run_number, runs_folder
from gpuprof.model.table import Table

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the folder is read-only",
    errno.EACCES: "the folder may not be written",
    errno.EPERM: "the folder may not be written",
    errno.ENOTDIR: "a file is in the place of the folder",
    errno.EEXIST: "a file is in the place of the folder",
}


def unsaved_because(error: OSError, what: str) -> str:
    """One line: what was not saved, why, and where there may be room."""
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    at = f" ({error.filename})" if error.filename else ""
    return f"{what}: {reason}{at}; set GPUPROF_FOLDER to a folder with room"


class RunFolder:
    """The folder of one run on disk, where there can be one.

    `path` is None where not; `unsaved` says why. `number` counts the runs of that place from 1.
    """

    def __init__(self, chosen: Path | None, run_id: str):
        self.path: Path | None = None
        self.number: int | None = None
        self.unsaved: str | None = None
        self._made: Path | None = None
        try:
            self._runs = runs_folder(chosen)
            self.path = self._made = make_run_folder(self._runs, run_id)
            self.number = next_run_number(self._runs)
        except OSError as error:  # a working directory that was deleted included
            self.fail(error, "the run was not saved")

    def fail(self, error: OSError, what: str) -> None:
        """Note the reason; the first one stays."""
        self.unsaved = self.unsaved or unsaved_because(error, what)

    def write(self, context: RunContext, tables: tuple[Table, ...], large: tuple[Table, ...] = ()) -> RunContext:
        """Write everything but the trace, the manifest last; where that fails `path` is None afterwards.

        The context, with a note where older runs were deleted.
        """
        if self.path is None:
            return context
        try:
            for table in tables:
                write_table(self.path, table)
            for table in large:
                if table:
                    write_large_table(self.path, table)
            write_context(self.path, context)
        except OSError as error:
            self.path = self.unsaved = None
            self.fail(error, "the run was not saved")
            return context
        return self._prune(self.path, context)

    def _prune(self, path: Path, context: RunContext) -> RunContext:
        try:
            note = prune(self._runs, keep=path).note
        except OSError as error:
            self.fail(error, "older runs could not be deleted")
            return context
        if note:
            # first: where nothing was recorded, the last note is taken for the reason
            context = msgspec.structs.replace(context, notes=(note, *context.notes))
            with contextlib.suppress(OSError):  # the run is saved; this one reports it all the same
                write_context(path, context)
        return context

    def keep(self, kineto: Path | None) -> Path | None:
        """Where the trace is in the end. A folder that could not become a Recording is deleted, the trace moved out."""
        if self.path is not None or self._made is None:
            return kineto
        if kineto is not None and kineto.parent == self._made:
            try:
                kineto = Path(shutil.copy2(kineto, temporary_folder()))
            except OSError:  # no room elsewhere either: it stays where it is
                return kineto
        shutil.rmtree(self._made, ignore_errors=True)
        return kineto
