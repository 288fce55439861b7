"""Which part of the cell the kernel recording covers: it begins with the cell and ends after enough steps, or at a cap.

Recording begins at once. It ends, on the main thread and between two steps where that can be had, after `skip +
steps` steps, after `max_seconds`, when it holds as many events as it may, or where no step has come for long. Where
no step had been seen by then, or only DataLoader batches, it starts over once better steps appear: the first
recording is then dropped. So it is where another loop of steps follows and takes longer than the recorded one.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from gpuprof.capture.base.frame_exit import when_frame_returns
from gpuprof.capture.base.main_thread import MainThreadCall, interrupt_soon
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.capture.profiler.trace_file import discard, has_open_events
from gpuprof.capture.session.interrupts import interrupts_held
from gpuprof.capture.session.steps import StepCount, StepSource
from gpuprof.model.context import Window
from gpuprof.model.table import Table
from gpuprof.units import NS_PER_S

# how long a wanted end waits for the end of a step
_LEAST_GRACE_NS = NS_PER_S
_MOST_GRACE_NS = 30 * NS_PER_S
# recorded besides the warm-up, however short the pass
_FEWEST_STEPS = 4
# so many steps are enough where they hold so many events, each of which costs 10 µs or more to record, to save and to
# read: the others run as they do without us
_SOME_STEPS = 8
_MANY_EVENTS = 60_000
# the fewest are enough where they last so long
_LONG_NS = 2 * NS_PER_S
# steps so short that more than the usual number is recorded
_EVENTS_OF_SHORT_STEPS = 25_000
# where steps are known: after the second one their length is
_MOST_STARTS = 2
_SECONDS_BEFORE_A_LOOK = 2.0
_STEP_CODE = "profile_hook_step.<locals>.wrapper"


class RecordingWindow:
    """Drives one KinetoRecording after the other over a cell. `recording` is the one that counts.

    `after_start` and `before_end` run inside each recording, as it begins and ends. `place` says at which batch,
    from 1, of how many the DataLoader is; `events` estimates how many events the steps so far have made; `occupied`
    says whether the cell is looked at just now, so that nothing else may begin.
    """

    def __init__(
        self,
        options: CaptureOptions,
        steps: StepCount,
        after_start: Callable[[], None],
        before_end: Callable[[], None],
        place: Callable[[], tuple[int | None, int | None]] = lambda: (None, None),
        events: Callable[[], int] = lambda: 0,
        occupied: Callable[[], bool] = lambda: False,
    ):
        self._place = place
        self._events, self._occupied = events, occupied
        self._after_start = after_start
        self._before_end = before_end
        self._options = options
        self._steps = steps
        self._main = threading.get_ident()
        self._wanted: str | None = None
        self._wanted_at_ns = 0
        self._wanted_at_step = 0
        self._steady_since_ns: int | None = None
        self._ending = MainThreadCall(self._end_anywhere)
        self._beginning = MainThreadCall(self._again_anywhere)
        self._busy = False
        self._first_step = 0
        self._last_step = 0
        self._source = StepSource.NOTHING
        self._batches_since_step = 0
        self._cost_ns = 0
        self._closed = self._too_little = False
        self.recording = KinetoRecording(options)
        self.ended_by = "cell"
        self.started_late = False
        self._gave_way = self._recorded_again = False
        self._started_over = self._recorded_loops = 0
        self._loop = steps.loop
        self.notes: list[str] = []

    @property
    def running(self) -> bool:
        """Whether kernels are being recorded now."""
        return self.recording.running

    @property
    def over_in_the_cell(self) -> bool:
        """Whether recording has ended while the cell runs on, and no other profiler is in the way."""
        ended = self.recording.end_ns > 0 and not self.recording.running
        return ended and not (self._closed or self._busy or self._gave_way or self._beginning.waiting)

    @property
    def pause_ns(self) -> int:
        """Time taken from the cell by ending and starting recordings in it."""
        return self._cost_ns

    @property
    def recorded_for_ns(self) -> int:
        """How long the current recording has run; 0 where none runs."""
        return time.time_ns() - self.recording.start_ns if self.running else 0

    def start(self) -> None:
        """Begin recording. RuntimeError, from torch, where its profiler cannot start."""
        self.recording.start()
        self._after_start()

    def optimizer_stepped(self) -> None:
        """An optimizer has stepped; called inside its `step()`, after the count."""
        if threading.get_ident() != self._main or self._busy:
            return
        from_loader, self._batches_since_step = self._batches_since_step > 0, 0
        if not self.recording.running:
            self._start_over()
            return
        if self._wanted is None:
            if not self._enough():
                return
            self._want("steps")
        elif self._wanted == "steps" and self._steps.seen <= self._wanted_at_step:
            return  # another optimizer's part of the same step
        # the next batch is asked for once the loop's body has ended: the better place
        if not from_loader or self._waited_ns > _LEAST_GRACE_NS:
            self._end_after_optimizer()

    def batch_asked(self) -> None:
        """A DataLoader has been asked for a batch; called before it does anything, after the count."""
        if threading.get_ident() != self._main or self._busy:
            return
        self._batches_since_step += 1
        if not self.recording.running:
            self._start_over()
        elif self._wanted is not None or self._enough():
            self._end(self._wanted or "steps")

    def give_way(self, who: str) -> None:
        """Another profiler is about to start: end this recording, and leave the rest of the cell to that one."""
        if threading.get_ident() != self._main or self._busy or self._closed:
            return
        if not self._gave_way:
            self._gave_way = True
            self.notes.append(
                f"{who} starts a profiler of its own, which is left alone: the kernel recording ends there; turn that "
                "profiler off to have the whole cell recorded"
            )
        self._end("profiler")

    def check(self, over: str | None) -> None:
        """From the watching thread, about ten times a second. `over` is the cap that was reached, if one was."""
        if not self.running or self._busy:
            return
        if over is None and self.recorded_for_ns > self._longest_s * NS_PER_S:
            over = "seconds"
        if over is None and self._pausing:
            over = "pause"
        if over is not None and self._wanted is None:
            self._want(over)
        if self._wanted is not None and self._waited_ns >= self._grace_ns:
            self._ending.ask()

    def close(self, *, failed: bool) -> None:
        """The cell has ended: end what still records. Later calls do nothing."""
        if self._closed:
            return
        self._closed = True
        if self.running:
            self._finish("error" if failed else "cell")

    def describe(self, cell_start_ns: int, cell_end_ns: int) -> Window:
        """The Window of the recording that counts, in Unix time."""
        first, last = self._first_step, self._last_step
        runs_on = self.ended_by != "cell"
        return Window(
            cell_start_ns=cell_start_ns,
            cell_end_ns=cell_end_ns,
            start_ns=self.recording.start_ns,
            end_ns=self.recording.end_ns,
            steps_seen=self._steps.seen,
            first_step=self._first_step,
            steps_recorded=max(0, self._last_step - self._first_step),
            ended_by=self.ended_by,
            started_late=self.started_late,
            recorded_step_ns=self._steps.median_ns(first + self._options.steps_to_skip, last),
            plain_step_ns=self._steps.plain_median_ns(first, last) if runs_on else None,
            plain_error_share=self._steps.plain_error_share(first, last) if runs_on else None,
        )

    def iterations(self) -> Table:
        """Every iteration that was timed (schema.ITERATIONS); those of the recorded loop that were not recorded are
        plain."""
        return self._steps.iterations(self._first_step, self._last_step if self.ended_by != "cell" else None)

    @property
    def _target(self) -> int:
        return self._options.steps_to_skip + self._options.steps_to_record

    @property
    def _longest_s(self) -> float:
        """Where a close look was asked for, a cell without steps leaves it time: nothing else ends its recording."""
        options = self._options
        if options.close_look and options.max_seconds is None and not self._steps.seen:
            return _SECONDS_BEFORE_A_LOOK
        return options.seconds_to_record

    @property
    def _pausing(self) -> bool:
        """Whether there are enough steps, and no more of them for now: what the cell does instead has been recorded for
        as long as it takes to tell that."""
        steps = self._steps.seen - self._first_step
        if self._options.steps is not None or steps < self._options.steps_to_skip + _SOME_STEPS:
            return False
        return self._steps.pausing

    @property
    def _waited_ns(self) -> int:
        return time.monotonic_ns() - self._wanted_at_ns

    @property
    def _grace_ns(self) -> int:
        """Long enough for the step under way to end; nothing where no steps are seen."""
        steps = self._steps.seen - self._first_step
        if steps <= 0 or self._wanted == "pause":
            return 0
        most = _MOST_GRACE_NS if self._wanted == "seconds" else _LEAST_GRACE_NS
        return min(max(_LEAST_GRACE_NS, 2 * self.recorded_for_ns // steps), most)

    def _enough(self) -> bool:
        steps = self._steps.seen - self._first_step
        # the first step loads libraries and fills caches: the least time counts from the end of the warm-up
        if self._steady_since_ns is None and steps >= self._options.steps_to_skip:
            self._steady_since_ns = time.monotonic_ns()
        if self._steady_since_ns is None:
            return False
        recorded_ns = time.monotonic_ns() - self._steady_since_ns
        if self._options.steps is None and (self._pass_ends_soon(steps) or self._much_is_recorded(steps, recorded_ns)):
            return True
        if steps < self._target:
            return False
        return recorded_ns >= self._options.least_seconds * NS_PER_S

    def _much_is_recorded(self, steps: int, recorded_ns: int) -> bool:
        if steps >= self._options.steps_to_skip + _FEWEST_STEPS and recorded_ns >= _LONG_NS:
            return True
        if steps < self._options.steps_to_skip + _SOME_STEPS:
            return False
        return self._events() >= (_MANY_EVENTS if steps < self._target else _EVENTS_OF_SHORT_STEPS)

    def _pass_ends_soon(self, steps: int) -> bool:
        """Whether two thirds of the loader's pass are recorded: a third, perhaps the whole rest of the cell, runs as it
        does without us."""
        batch, batches = self._place()
        if batch is None or batches is None or steps < self._options.steps_to_skip + _FEWEST_STEPS:
            return False
        return 3 * batch >= 2 * batches

    def _want(self, reason: str) -> None:
        self._wanted_at_ns = time.monotonic_ns()
        self._wanted_at_step = self._steps.seen
        self._wanted = reason

    def _end_after_optimizer(self) -> None:
        if _in_backward():
            return
        frame = _step_frame()
        reason = self._wanted or "steps"
        if frame is None or not when_frame_returns(frame, lambda: self._end(reason)):
            self._end(reason)

    def _end_anywhere(self) -> None:
        if self.running and not self._busy and self._wanted is not None and not _in_backward():
            self._end(self._wanted, from_interpreter=True)

    def _end(self, reason: str, *, from_interpreter: bool = False) -> None:
        """End in mid-cell. Inside autograd the profiler's state would come back when the backward pass returns."""
        if not self.running or self._busy or self._closed or _in_backward():
            return
        with self._inside_the_cell(from_interpreter):
            self._finish(reason)

    @contextmanager
    def _inside_the_cell(self, from_interpreter: bool) -> Iterator[None]:
        """Time it, keep every other way in out, and hold back a Ctrl-C until the profiler is whole again."""
        self._busy = True
        began = time.perf_counter_ns()
        try:
            with interrupts_held() as held:
                yield
        finally:
            self._busy = False
            self._cost_ns += time.perf_counter_ns() - began
        if held.arrived and from_interpreter:
            interrupt_soon()
        elif held.arrived:
            raise KeyboardInterrupt

    def _finish(self, reason: str) -> None:
        self._last_step = self._steps.seen
        self._source, self._loop = self._steps.source, self._steps.loop
        self._before_end()
        self.recording.stop()
        self.ended_by = reason
        self._too_little = self._saw_too_little()
        self._wanted = None

    def record_again(self) -> None:
        """From the watching thread: what was recorded is over. Once a cell."""
        if not self._recorded_again:
            self._beginning.ask()

    def _again_anywhere(self) -> None:
        if self.running or self._closed or self._gave_way or self._busy or self._steps.seen or _in_backward():
            return
        self._recorded_again = True
        self._start_anew("other work began", from_interpreter=True)

    def _start_over(self) -> None:
        """Record once more, where the ended recording has no steps, fewer than are needed or worse ones than are seen
        now, or where memory ended it within a step: how long one takes is known by now."""
        source, too_little = self._steps.source, self._too_little
        # in every iteration: the cheapest questions first
        if source is self._source and self._steps.loop is self._loop and not too_little:
            return
        again = too_little and source is StepSource.OPTIMIZER and self._started_over < _MOST_STARTS
        other = source <= self._source and not again
        if (other and not self._other_loop()) or self._closed or self._gave_way or self._busy or _in_backward():
            return
        if other:
            self._recorded_loops += 1
            self._steps.leave_out(self._first_step, self._last_step + 1)
            self._start_anew("another loop of steps began")
            return
        self._started_over += 1
        self._source = self._steps.source
        self._start_anew("steps appeared")

    def _saw_too_little(self) -> bool:
        """Whether memory ended the recording within a step, or a pause before it had enough of them."""
        recorded = self._last_step - self._first_step
        within_a_step = self.ended_by == "bytes" and not recorded
        return within_a_step or (self.ended_by == "pause" and recorded < self._options.steps_to_skip + _FEWEST_STEPS)

    def _other_loop(self) -> bool:
        """Whether the cell has gone on with another loop of steps, which takes more of it than the recorded one. Once a
        cell, and not where the user said what to record."""
        asked = self._options.steps is not None or self._options.max_seconds is not None
        if asked or self._recorded_loops or self._source is not StepSource.OPTIMIZER:
            return False
        return not self._occupied() and self._steps.prevails_over(self._loop)

    def _start_anew(self, why: str, *, from_interpreter: bool = False) -> None:
        with self._inside_the_cell(from_interpreter):
            if has_open_events(self.recording):
                self.notes.append(
                    f"{why} after the kernel recording had ended; it could not be started again because a user range "
                    "was open when it ended"
                )
                return
            fresh = KinetoRecording(self._options)
            fresh.carry(self.recording)
            try:
                fresh.start()
            except RuntimeError as error:
                self.notes.append(f"the kernel recording could not be started again when {why}: {error}")
                return
            discard(self.recording)
            self.recording, self.started_late = fresh, True
            self._first_step = self._last_step = self._steps.seen
            self._steady_since_ns = None
            self._after_start()


def _in_backward() -> bool:
    import torch

    return int(torch._C._current_graph_task_id()) != -1


def _step_frame() -> FrameType | None:
    """The frame of torch's wrapper around `Optimizer.step`, up the stack of the hook."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_qualname == _STEP_CODE or frame.f_code.co_qualname.endswith(_STEP_CODE):
            return frame  # type: ignore[no-any-return]
        frame = frame.f_back
    return None
