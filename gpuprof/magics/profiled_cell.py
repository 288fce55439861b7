"""One profiled cell: its options, its capture, and what becomes of both when it ends."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gpuprof.errors import CaptureError
from gpuprof.magics.display import Showing, open_live
from gpuprof.magics.messages import describe, notice
from gpuprof.magics.options import CellOptions

if TYPE_CHECKING:
    from gpuprof.capture.session.session import Captured, Session
    from gpuprof.magics.live import LiveOutput
    from gpuprof.model.context import Cell
    from gpuprof.run import Run


def find_earlier(shell: Any, named: str) -> Run | Path:
    """The run that `--compare` names: a variable that holds one, else whatever `find_run` knows; else UsageError."""
    from gpuprof.profiling import find_run
    from gpuprof.run import Run

    value = shell.user_ns.get(named)
    return value if isinstance(value, Run) else find_run(named)


class ProfiledCell:
    """A cell from the start of its capture to its report."""

    def __init__(
        self, shell: Any, options: CellOptions, earlier: Run | Path | None, session: Session, live: LiveOutput | None
    ):
        self._shell = shell
        self._options = options
        self._earlier = earlier
        self._session = session
        self._live = live
        self._captured: Captured | None = None
        self._failure = "the capture was not stopped"
        self._error: BaseException | None = None

    @classmethod
    def start(cls, shell: Any, options: CellOptions, cell: Cell) -> Self:
        """Start the capture; ProfilerBusyError or CaptureError where it cannot be, KeyboardInterrupt passes on."""
        from gpuprof.capture.session.session import Session

        earlier = find_earlier(shell, options.compare) if options.compare is not None else None
        session = Session(options.capture, cell=cell, namespace=shell.user_ns)
        live = open_live(shell, options, cell)
        try:
            session.start()
        except BaseException:
            if live is not None:
                live.clear()
            raise
        if live is not None:
            live.follow(session)
        return cls(shell, options, earlier, session, live)

    def stop(self, error: BaseException | None) -> bool:
        """Stop the capture; False where the user interrupted that. Never raises."""
        self._error = error
        if self._live is not None:
            self._live.end()
        self._say("saving the recording")
        try:
            self._captured = self._session.stop(error, pack_later=True)
        except Exception as failure:  # noqa: BLE001 - the user's cell has run and must stay as it is
            self._failure = f"the capture could not be stopped: {describe(failure)}"
        return not self._session.interrupted

    def discard(self) -> None:
        """Stop and forget: nothing of the cell was run, or nobody is left to show it to."""
        self.stop(None)
        if self._live is not None:
            self._live.clear()
        if self._captured is not None and self._captured.packing is not None:
            self._captured.packing.abandon()
        if self._captured is not None and self._captured.folder is not None:
            shutil.rmtree(self._captured.folder, ignore_errors=True)

    def present(self) -> bool:
        """Read, assign, remember and show the run; False where the user interrupted that. Never raises."""
        from gpuprof.capture.memory.malloc_trim import give_back_free_memory
        from gpuprof.capture.session.interrupts import interrupts_held
        from gpuprof.ingest.kineto import collector_paused

        run = None
        try:
            # raised at once, yet known of even where Python swallows it (a weak reference's callback)
            with interrupts_held(on_first=_raise_interrupt) as interrupt:
                with collector_paused():
                    self._say("reading the trace")
                    run = self._read()
                    self._say("working out where the time went")
                    showing = Showing(self._shell, run, self._options, self._earlier, self._live)
                    showing.verdict()
                self._say("making the report")
                if self._captured is not None and self._captured.packing is not None:
                    self._captured.packing.begin()
                self._finish_saving(run)
                showing.rest()
                run._keep_summary()
                self._try(run, showing)
        except KeyboardInterrupt:
            notice(f"the report was interrupted; {self._whereabouts()}")
            return False
        except Exception as error:  # noqa: BLE001 - the user's cell has run and must stay as it is
            notice(f"no report: {describe(error)}; {self._whereabouts()}")
        finally:
            if self._live is not None and not self._live.became:
                self._live.clear()
            self._assign(run)
            self._finish_saving(run)
            give_back_free_memory()
        return not interrupt.arrived

    def _try(self, run: Run, showing: Showing) -> None:
        """Measure the best changes where the user asked for it, and show the report with what was measured."""
        if self._options.try_seconds is None:
            return
        from gpuprof.magics.try_best import try_best

        if self._error is not None:
            notice("--try: nothing measured, since the cell did not run to its end")
            return
        if run.report_data.gate.cannot_judge:
            notice("--try: nothing measured, since this recording cannot be judged")
            return
        known = len(run.measured)
        try:
            try_best(self._shell, run, self._options.try_seconds)
        except KeyboardInterrupt:
            notice("--try was interrupted; your variables are as the cell left them")
        if len(run.measured) > known:
            showing.again()

    def _read(self) -> Run:
        from gpuprof.profiling import remember
        from gpuprof.run import Run

        if self._captured is None:
            raise CaptureError(self._failure)
        if self._captured.folder is not None:
            remember(self._captured.folder)
        run = Run._from_captured(self._captured)
        remember(run)
        return run

    def _finish_saving(self, run: Run | None) -> None:
        """See that the trace is packed, which the verdict did not wait for."""
        from gpuprof.capture.session.recording_writer import unsaved_because

        captured = self._captured
        if captured is None or captured.packing is None:
            return
        problem = captured.packing.finish()
        if run is not None and problem is not None:
            run.unsaved = run.unsaved or unsaved_because(problem, "the kernel recording was not saved")

    def _say(self, stage: str) -> None:
        if self._live is not None:
            self._live.say(stage)

    def _assign(self, run: Run | None) -> None:
        # None rather than the run of an earlier cell, which would pass for this one
        if self._options.into is not None:
            self._shell.user_ns[self._options.into] = run

    def _whereabouts(self) -> str:
        folder = self._captured.folder if self._captured is not None else None
        return "the recording was not saved" if folder is None else f"gpuprof.last() reads the recording in {folder}"


def _raise_interrupt() -> None:
    raise KeyboardInterrupt
