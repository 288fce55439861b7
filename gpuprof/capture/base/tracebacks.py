"""Keeps gpuprof's frames out of the tracebacks that the user sees."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

_OWN_FOLDER = str(Path(__file__).parents[1])


def leave_out(error: BaseException) -> None:
    """Take our frames out of the traceback of `error`, as it stands where one of them has just caught it.

    Where the error was raised by us (a Ctrl-C that waited), nothing below is the user's. The caller goes on with a bare
    `raise`: CPython makes no entry for a frame that raises again what it has caught.
    """
    entries = _entries(error.__traceback__)
    if entries and _is_own(entries[-1]):
        error.__traceback__ = None
        return
    error.__traceback__ = next((entry for entry in entries if not _is_own(entry)), None)


def leave_out_everywhere(error: BaseException) -> None:
    """The same where the user's code has called us in between: our frames go, wherever they stand."""
    theirs = [entry for entry in _entries(error.__traceback__) if not _is_own(entry)]
    for entry, below in zip(theirs, [*theirs[1:], None], strict=True):
        entry.tb_next = below
    error.__traceback__ = theirs[0] if theirs else None


def _entries(traceback: TracebackType | None) -> list[TracebackType]:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    return entries


def _is_own(entry: TracebackType) -> bool:
    return entry.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER)
