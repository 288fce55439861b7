"""`with gpuprof.profile() as run:` — the capture of `%%gpuprofile` for scripts and any other front end."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, get_type_hints

import msgspec

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.memory.malloc_trim import give_back_free_memory
from gpuprof.capture.session.captured import Captured
from gpuprof.capture.session.session import Session
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.model.context import Cell
from gpuprof.profiling.runs import remember
from gpuprof.run import Run

_TYPES = get_type_hints(CaptureOptions)


class PendingRun(Run):
    """The Run of a `with` block that has not ended. It becomes a Run, in place, when the block does."""

    def __init__(self) -> None:
        self._why = "it is still being recorded; leave the `with` block first"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise GpuprofError(f"this run has no {name!r} yet: {self._why}")

    def __repr__(self) -> str:
        return f"<gpuprof.Run: {self._why}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self)}

    def fail(self, why: str) -> None:
        """Say from now on why there is no run."""
        self._why = why

    def become(self, run: Run) -> None:
        """Turn into this run."""
        vars(self).clear()
        vars(self).update(vars(run))
        self.__class__ = Run  # type: ignore[assignment]


class Profile:
    """A context manager around one capture; see `profile`."""

    def __init__(self, options: CaptureOptions):
        self._options = options
        self._run = PendingRun()
        self._session: Session | None = None

    def __enter__(self) -> Run:
        caller = sys._getframe(1)
        notebook = caller.f_globals if "In" in caller.f_globals and "Out" in caller.f_globals else None
        self._session = Session(self._options, cell=_cell_of(caller, self._options.name), namespace=notebook)
        self._session.start()
        # the handle of an earlier `with` on this object has become a Run, and stays the caller's
        self._run = PendingRun()
        return self._run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._session is not None
        captured = self._session.stop(error)
        self._fill(captured)
        if self._session.interrupted and error is None:
            raise KeyboardInterrupt

    def _fill(self, captured: Captured) -> None:
        if captured.folder is not None:
            remember(captured.folder)
        try:
            run = Run.from_captured(captured)
        except Exception as failure:  # noqa: BLE001 - the block has run; its own outcome must stand
            self._run.fail(f"{type(failure).__name__}: {failure}")
            sys.stderr.write(f"gpuprof: {self._run!r}\n")
            return
        self._run.become(run)
        remember(run)
        give_back_free_memory()


def profile(**options: Any) -> Profile:
    """Profile a `with` block: `with gpuprof.profile(steps=50) as run:`; afterwards `run` is a Run.

    The options are those of `%%gpuprofile` that concern the capture (`gpuprof.capture.base.options.CaptureOptions`).
    UsageError where one is wrong; ProfilerBusyError, before the block runs, where another profiler is active.
    An exception of the block is passed on, and the run holds what was recorded until then.
    """
    known = CaptureOptions.__struct_fields__
    if unknown := [name for name in options if name not in known]:
        raise UsageError(f"profile() has no option {unknown[0]!r}; its options are {', '.join(known)}")
    return Profile(CaptureOptions(**{name: _checked(name, value) for name, value in options.items()}))


def _checked(name: str, value: Any) -> Any:
    """The value, of the type that the option has: msgspec checks none where a struct is made by hand."""
    if name == "folder" and isinstance(value, str):
        return Path(value)
    try:
        return msgspec.convert(value, _TYPES[name])
    except msgspec.ValidationError as error:
        raise UsageError(f"profile({name}={value!r}): {str(error)[:1].lower()}{str(error)[1:]}") from None


def _cell_of(frame: FrameType, name: str | None) -> Cell:
    """The source around the block: the notebook cell, or the file of a script."""
    filename = frame.f_code.co_filename
    return Cell(source="".join(linecache.getlines(filename, frame.f_globals)), name=name, filename=filename)
