"""One capture of a running cell: starts everything, keeps it in bounds, stops it, and saves the Recording."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Any

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.memory.malloc_trim import give_back_free_memory
from gpuprof.capture.session.captured import Captured, Live
from gpuprof.capture.session.interrupts import interrupts_held
from gpuprof.capture.session.watch import Watch
from gpuprof.errors import CaptureError
from gpuprof.model import half_written
from gpuprof.model.context import Cell, CellOutcome, RunContext
from gpuprof.model.run_store import new_run_id

__all__ = ["CaptureOptions", "Captured", "Live", "Session"]


class Session:
    """Captures from `start` to `stop`. One at a time in a process, on its main thread.

    `cell` is the code that runs, for the Recording and to find its lines; `namespace` the variables of the notebook, to
    say at the end what they hold (None: not looked at). `interrupted` says, after `stop`, whether a
    Ctrl-C waited meanwhile: the caller owes the user that stop.
    """

    def __init__(
        self, options: CaptureOptions, *, cell: Cell | None = None, namespace: Mapping[str, Any] | None = None
    ):
        self._options = options
        self._cell = cell
        self._namespace = namespace
        self._created_ns = time.time_ns()
        self._run_id = new_run_id(self._created_ns)
        self._pid = os.getpid()
        self._watch: Watch | None = None
        self._captured: Captured | None = None
        self._cell_start_ns = 0
        self.interrupted = False

    @property
    def run_id(self) -> str:
        """The name of this run, and of its folder."""
        return self._run_id

    @property
    def running(self) -> bool:
        """Whether it has started and not stopped."""
        return self._watch is not None

    def start(self) -> None:
        """Begin; does nothing a second time. ProfilerBusyError, with nothing touched, where another profiler is active,
        another Session runs, or off the main thread. A kernel recording that cannot start does not raise: the run then
        goes without, and its notes say so."""
        if self._watch is not None or self._captured is not None:
            return
        half_written.finish_all()  # which would take from this one's time
        exclusive_session.claim(self)
        watch = Watch(self._options, self._cell, self._namespace)
        try:
            with interrupts_held() as held:
                watch.start()
            if held.arrived:
                raise KeyboardInterrupt
        except BaseException:
            watch.abandon()
            exclusive_session.release(self)
            raise
        self._watch = watch
        self._cell_start_ns = time.time_ns()

    def stop(self, error: BaseException | None = None, *, pack_later: bool = False) -> Captured:
        """End, save, and return what was captured; a later call returns the same. `pack_later`: see `Captured.packing`.

        `error` is what the cell raised. CaptureError where it was never started or off the main thread; nothing that
        the cell, the device or the disk did raises. A first Ctrl-C meanwhile waits; a second gives up what is left.
        """
        if self._captured is not None:
            return self._captured
        watch = self._watch
        if watch is None:
            raise CaptureError("this capture was never started; call start() before stop()")
        if os.getpid() != self._pid:
            return Captured(
                RunContext(), unsaved="this process was forked from the profiled one; that one keeps the run"
            )
        if threading.current_thread() is not threading.main_thread():
            raise CaptureError("a capture can only stop on the main thread, where it started")
        cell_end_ns = time.time_ns()
        try:
            with interrupts_held() as interrupt:
                context = self._context(error)
                self._captured = watch.finish(context, self._cell_start_ns, cell_end_ns, pack_later=pack_later)
            self.interrupted = interrupt.arrived
        except KeyboardInterrupt:
            self.interrupted = True
            watch.abandon()
            self._captured = Captured(self._context(error), unsaved="interrupted twice while the run was being saved")
        except BaseException:
            watch.abandon()
            raise
        finally:
            # the profiler's events take 1.5 kB each as long as they are held
            self._watch = self._namespace = None
            give_back_free_memory()
            exclusive_session.release(self)
        return self._captured

    def live(self) -> Live:
        """How far it is; safe from any thread, and never raises."""
        started = self._cell_start_ns
        watch = self._watch
        if watch is None or self._captured is not None:
            return Live()
        return watch.live(time.time_ns() - started if started else 0)

    def _context(self, error: BaseException | None) -> RunContext:
        facts: dict[str, Any] = {}
        if error is not None:
            facts = {"error": type(error).__name__, "message": str(error)[:2000]}
        return RunContext(
            run_id=self._run_id,
            created_ns=self._created_ns,
            cell=self._cell,
            options=self._options.to_dict(),
            outcome=CellOutcome(**facts),
        )
