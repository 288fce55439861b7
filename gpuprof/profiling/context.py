"""`with gpuprof.profile() as run:` — the capture of `%%gpuprofile` for scripts and any other front end."""

from __future__ import annotations

import contextlib
import linecache
import sys
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, get_type_hints

import msgspec

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.trace_file import Packing
from gpuprof.capture.session.captured import Captured
from gpuprof.capture.session.recording_writer import unsaved_because
from gpuprof.capture.session.session import Session
from gpuprof.errors import GpuprofError, UsageError
from gpuprof.model import half_written
from gpuprof.model.context import Cell
from gpuprof.profiling.runs import remember
from gpuprof.run import Run

_WHY = "it is still being recorded; leave the `with` block first"
_TYPES = get_type_hints(CaptureOptions)


class PendingRun(Run):
    """The Run of a `with` block that has not ended. It becomes a Run, in place, when the block does."""

    def __init__(self) -> None:
        """Nothing yet."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise GpuprofError(f"this run has no {name!r} yet: {_WHY}")

    def __repr__(self) -> str:
        return f"<gpuprof.Run: {_WHY}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self)}

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
        captured = self._session.stop(error, pack_later=True)
        self._fill(captured)
        if self._session.interrupted and error is None:
            raise KeyboardInterrupt

    def _fill(self, captured: Captured) -> None:
        """Only what cannot wait: a script goes on at once, and its run is read when it is looked at."""
        run = self._run
        run.become(Run._from_captured_later(captured))
        remember(run)
        if captured.packing is not None:
            captured.packing.begin(mend=True)
            half_written.add(partial(_finish, run, captured.packing))


def _finish(run: Run, packing: Packing) -> None:
    """The run is read now where it could not be saved."""
    problem = packing.wait()
    if problem is not None:
        run.unsaved = run.unsaved or unsaved_because(problem, "the kernel recording was not saved")
        with contextlib.suppress(GpuprofError):
            _ = run.trace
    packing.finish()


def profile(
    *,
    name: str | None = None,
    steps: int | None = None,
    skip: int | None = None,
    max_seconds: float | None = None,
    memory: bool = False,
    stacks: bool = False,
    shapes: bool = False,
    nvml_hz: float = 10.0,
    no_nvml: bool = False,
    no_lines: bool = False,
    close_look: bool = False,
    no_close_look: bool = False,
    inspect: bool = False,
    folder: Path | str | None = None,
) -> Profile:
    """Profile a `with` block: `with gpuprof.profile(steps=50) as run:`; afterwards `run` is a Run.

    Args:
        name: A name for this run, for `gpuprof.history()` and for comparing with it.
        steps: Record the kernels of this many steps, then only sample. None: 20 or, where steps are very short, as
            many as a second or 25,000 events hold; 8 are enough where they hold 60,000 or last 6 s.
        skip: Count this many steps before those as warm-up. None: 2.
        max_seconds: Record kernels for at most this long. None: 60 s.
        memory: Record every allocation: exact peaks, more overhead.
        stacks: Record Python call stacks: finds lines, much more overhead.
        shapes: Record the shapes of operators' inputs; keeps tensors alive.
        nvml_hz: Device readings a second, above 0 and at most 50.
        no_nvml: Leave device sampling out.
        no_lines: Leave out which line of the source runs when.
        close_look: Look closely at a few iterations after the recorded ones, however short the block. By default they
            are looked at from 2 s on, for at most 1 s and 5% of the time until then.
        no_close_look: Leave that out.
        inspect: In the close look, also count the zeros of matrices on a GPU, and of small and very large ones.
        folder: Where the run is saved, in a folder of its own. None: the environment variable GPUPROF_FOLDER, else
            `.gpuprof` in the working directory.

    Raises:
        UsageError: A value makes no sense; nothing was run.
        ProfilerBusyError: Another profiler is active; raised where the block is entered, before it runs.

    An exception of the block is passed on, and the run holds what was recorded until then.
    """
    options = dict(locals())  # before any other name: the keywords, as they were given
    return Profile(CaptureOptions(**{option: _checked(option, value) for option, value in options.items()}))


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
