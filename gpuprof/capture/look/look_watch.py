"""When the cell is looked at closely: a few iterations after the recorded ones, where the cell has run long enough.

It begins and ends between two iterations, where an optimizer has stepped or a batch is asked for. Where a cell has no
iterations that are known, it begins and ends anywhere. Where much of the time goes to lines that no look has seen,
these are looked at, too: between the iterations, in those of another loop, or, without any, when they are likely next.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.main_thread import MainThreadCall
from gpuprof.capture.base.next_line import at_next_lines
from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.look import mode_stack
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.guard_level import outside_frame
from gpuprof.capture.look.joined_looks import TakenLook, joined
from gpuprof.capture.look.look_budget import LookBudget
from gpuprof.capture.look.places import LinePath, Places
from gpuprof.capture.look.work_elsewhere import WorkElsewhere
from gpuprof.model.look import Look
from gpuprof.model.table import Table
from gpuprof.units import NS_PER_S

# of other code that it meets after the iterations, or instead of them
_MOST_WALL = 4
# of a cell whose iterations are not known: what was even for as long as the cell has run is met again in that time
_MOST_ANYWHERE_NS = 20 * NS_PER_S
_MOST_TRIES = 20
# a cell without steps does other things later: it is looked at again when it has run for so many times as long
_AGAIN_AFTER = 1.5
_MOST_LOOKS_ANYWHERE = 4
# with less there is no use in looking between the iterations
_LEAST_ELSEWHERE_NS = NS_PER_S // 20
# without iterations: a turn of an outer loop may have thousands of operators; after a look that ended before, more
_LEAST_FOR_A_TURN_NS, _MORE_NEXT = NS_PER_S // 10, 1.5
_STEPS_KEPT = 512
# an inference mode within a loop's body is over by then; one around the loop is not
_LINES_OF_A_GUARD = 30
# steps of the optimizer that steps most to one of another's: of more, the other one has its own pace
_MOST_PERIOD = 8


class _Asked(NamedTuple):
    """A look at work elsewhere: where the main thread was found, and after how many steps."""

    path: LinePath
    steps: int


class LookWatch:
    """Drives the close looks at a cell, from the hooks of its session.

    `steps` says how many steps have ended, `step_ns` about how long one takes (None: not known), `recorded` whether the
    kernel recording has ended and the cell runs on by itself, `pausing` whether no step has come for long, though there
    were some. `leave_out(first, last)` is told of the steps that are
    not as they would be: numbers from 0.
    """

    def __init__(
        self,
        options: CaptureOptions,
        filename: str | None,
        namespace: Mapping[str, Any] | None,
        steps: Callable[[], int],
        step_ns: Callable[[], float | None],
        recorded: Callable[[], bool],
        pausing: Callable[[], bool],
        leave_out: Callable[[int, int], None],
    ):
        self._wanted, self._inspect = not options.no_close_look, options.inspect
        self._budget = LookBudget(asked=options.close_look)
        self._filename, self._namespace = filename, namespace
        self._steps, self._step_ns, self._recorded, self._leave_out = steps, step_ns, recorded, leave_out
        self._pausing = pausing
        self._main = threading.get_ident()
        self._look: CloseLook | None = None  # the one that goes on
        self._taken: list[CloseLook] = []
        self._cut_off: CloseLook | None = None
        self._by_batches = self._looked = self._between_steps = False
        self._elsewhere, self._here_now = WorkElsewhere(), Places(filename)
        self._first_step = self._seen = self._steps_told = 0
        # how often each optimizer has stepped since a look was last due; the loops that a look has seen, by where they
        # step
        self._stepped: dict[int, int] = {}
        self._loops: set[LinePath] = set()
        self._looked_loops: set[LinePath] = set()
        self._last_loop: LinePath = ()
        # after so many steps work comes again that a look came too late for; lines for which that was awaited once
        self._awaited_steps: int | None = None
        self._awaited: set[LinePath] = set()
        self._step_ends: deque[tuple[int, int]] = deque(maxlen=_STEPS_KEPT)
        self._asked = _Asked((), 0)
        self._last_sign_ns = self._most_wall_ns = self._looked_after_ns = self._missed_ns = 0
        self._tries = 0
        self._closed = False
        self._beginning, self._ending = MainThreadCall(self._begin_anywhere), MainThreadCall(self._end_anywhere)
        self._beginning_elsewhere = MainThreadCall(self._begin_elsewhere)
        self._beginning_here = MainThreadCall(self._begin_here)
        self._waking = MainThreadCall(self._wake_anywhere)
        self._skipped: str | None = None

    def step_begins(self, optimizer: Any) -> None:
        """An optimizer is about to step."""
        look = self._look  # which a call between two bytecodes may end
        if look is not None and self._here():
            look.step_begins(optimizer)

    def optimizer_stepped(self, optimizer: Any, loop: LinePath = ()) -> None:
        """An optimizer has stepped, first in those lines; called inside its `step()`, after the count and after the
        recording was told. Not in a forked process."""
        if not self._wanted or self._closed or threading.get_ident() != self._main:
            return
        if loop is not self._last_loop or not self._loops:
            self._last_loop = loop
            self._loops.add(loop)
        self._stepped[id(optimizer)] = self._stepped.get(id(optimizer), 0) + 1
        if (look := self._look) is not None:
            look.step_ended(optimizer)
        # of several optimizers one ends the iteration: a look that began at another would see half of one
        steps = self._steps()
        ended = steps > self._steps_told
        if ended:
            self._steps_told = steps
            self._step_ends.append((time.monotonic_ns(), self._steps_told))
        if ended or self._look is not None:
            self._between(by_batches=False)

    def batch_asked(self) -> None:
        """A DataLoader is asked for a batch; after the count and after the recording was told. Not in a forked
        process."""
        if self._wanted and not self._closed and threading.get_ident() == self._main:
            self._between(by_batches=True)

    def tick(self) -> None:
        """From the watching thread, about ten times a second."""
        look = self._look
        if self._closed or self._beginning.waiting or self._ending.waiting or not self._wanted:
            return
        if look is None:
            due = not self._looked or (self._due_again() and not self._elsewhere.waits)
            if not self._steps() and due and self._may_begin() and self._tries < _MOST_TRIES:
                self._beginning.ask()
        elif look.installed:
            (self._ending if self._overdue(look) else self._waking).ask()

    def seen_at(self, path: LinePath, at_ns: int) -> None:
        """From the watching thread: at which line of the user's code the main thread was at that time (monotonic), and
        how it came there."""
        if self._closed or not self._wanted or self._look is not None or not self._steps():
            return
        steps = self._steps_at(at_ns)
        if not self._elsewhere.note(path, steps) or not self._may_begin_elsewhere() or self._awaited_steps is not None:
            return
        if not self._beginning_elsewhere.waiting:
            self._asked = _Asked(path, steps)
        self._beginning_elsewhere.ask()

    def found_at(self, path: LinePath) -> None:
        """From the watching thread: at which line the main thread is, in a cell without steps."""
        if self._closed or not self._wanted or self._look is not None or self._steps() or not path:
            return
        self._elsewhere.note(path, 0)
        enough = self._budget.left_ns >= max(_LEAST_FOR_A_TURN_NS, _MORE_NEXT * self._missed_ns)
        if enough and self._looked and self._may_begin() and self._elsewhere.comes_next(path):
            self._beginning_here.ask()

    def _steps_at(self, at_ns: int) -> int:
        """How many steps had ended then, as far back as is known."""
        ended = list(self._step_ends)  # in one go: the main thread may add to it
        return next((steps for ns, steps in reversed(ended) if ns <= at_ns), 0)

    @property
    def installed(self) -> bool:
        """Whether a look is going on."""
        return self._look is not None and self._look.installed

    def look_again(self) -> None:
        """Something else is recorded from now on: that is to be looked at. What was seen before stays."""
        look = self._look
        if look is not None and look.installed:
            if not look.stop("seconds"):
                return
            self._took(look)
        self._looked = self._looked and bool(self._looked_loops)

    def take_off(self) -> None:
        """The cell has ended: nothing of the look stays behind. Later calls do nothing."""
        look, before = self._look, self._cut_off
        if look is None and not self._taken and before is None and not self._closed:
            self._skipped = self._skipped or self._why_not()
        self._closed = True
        if look is not None and look.installed:
            self._stop(look, "cell", lift=True)
        # a part is better than nothing, or than a smaller one
        if before is not None and all(each.seen < before.seen for each in self._taken):
            self._taken = [before]
        self._cut_off = None

    def result(self) -> tuple[Look | None, tuple[Table, ...]]:
        """What was seen; None where no look was wanted. After `take_off`; waits for the devices that were used."""
        if not self._wanted:
            return None, ()
        if not self._taken:
            return Look(skipped=self._skipped), ()
        tables, look = joined([TakenLook(*each.result()) for each in self._taken])
        return msgspec.structs.replace(look, cost_ns=self._budget.spent_ns), tables

    def _here(self) -> bool:
        return (
            self._wanted and not self._closed and threading.get_ident() == self._main and not exclusive_session.forked()
        )

    def _between(self, *, by_batches: bool) -> None:
        look = self._look
        if look is None:
            if self._awaited_steps is not None and self._comes_now(by_batches=by_batches):
                self._begin(iterations=None, between_steps=True)
                return
            if self._looked or self._tries >= _MOST_TRIES or not self._may_begin():
                return
            if self._pausing():
                return  # an evaluation's batch: `seen_at` has that looked at
            step_ns = self._iteration_ns
            if self._budget.suffices(step_ns):
                self._begin(iterations=self._budget.iterations(step_ns), by_batches=by_batches)
            return
        if not look.installed:
            return
        if self._between_steps:
            # what it looks at is over
            if not by_batches or not look.active:
                look.to_next_step = look.active
                self._stop(look, "seconds")
            return
        if by_batches is self._by_batches and self._steps() - self._seen >= self._period:
            self._seen, self._last_sign_ns = self._steps(), time.perf_counter_ns()
            look.iteration_ended()
        if not look.active:
            self._stop(look, "iterations")

    @property
    def _period(self) -> int:
        """Steps to an iteration of the look: what one step leaves, the next step of another optimizer may read."""
        times = [count for count in self._stepped.values() if count > 1]
        return min(round(max(times) / min(times)), _MOST_PERIOD) if times else 1

    @property
    def _iteration_ns(self) -> float:
        return (self._step_ns() or 0) * self._period

    def _due_again(self) -> bool:
        later = self._budget.elapsed_ns >= _AGAIN_AFTER * self._looked_after_ns
        affordable = self._budget.left_ns >= _LEAST_ELSEWHERE_NS
        return later and affordable and len(self._taken) < _MOST_LOOKS_ANYWHERE

    def _may_begin(self) -> bool:
        return self._recorded() and self._budget.old_enough

    def _may_begin_elsewhere(self) -> bool:
        return (self._looked or self._pausing()) and self._may_begin()

    def _begin(self, *, iterations: int | None, by_batches: bool = False, between_steps: bool = False) -> None:
        self._tries += 1
        beside = between_steps and not self._looked
        left_ns = self._budget.left_beside_ns(self._iteration_ns) if beside else self._budget.left_ns
        seconds = left_ns / NS_PER_S
        look = CloseLook(
            self._filename,
            iterations=iterations,
            most_seconds=seconds,
            namespace=self._namespace,
            inspect=self._inspect,
        )
        known = iterations is not None
        usual_ns = _MOST_WALL * self._iteration_ns if known else min(self._budget.elapsed_ns, _MOST_ANYWHERE_NS)
        self._most_wall_ns = int(max(_MOST_WALL * seconds * NS_PER_S, usual_ns))
        if not look.start():
            self._skipped = look.skipped
            return
        self._look, self._by_batches, self._between_steps = look, by_batches, between_steps
        self._first_step = self._seen = self._steps()
        self._last_sign_ns = time.perf_counter_ns()

    def _begin_anywhere(self) -> None:
        if self._look is None and self._here() and not self._steps():
            self._begin(iterations=None)

    def _begin_here(self) -> None:
        if self._look is None and self._here() and not self._steps() and self._elsewhere.waits:
            self._begin(iterations=None)

    def _begin_elsewhere(self) -> None:
        path = self._here_now.path_of(sys._getframe())
        free = self._look is None and self._here() and self._may_begin_elsewhere()
        new = self._elsewhere.is_new(path)
        if not (path and free and (new or self._elsewhere.is_new(self._asked.path))):
            return
        if new and self._last_loop not in self._looked_loops and not self._pausing():
            # another loop of steps: `_between` begins a look at its iterations
            self._looked = False
            self._stepped.clear()
        elif not self._waits() and new and self._budget.left_ns >= _LEAST_ELSEWHERE_NS:
            self._begin(iterations=None, between_steps=True)

    def _waits(self) -> bool:
        """Whether the look is to begin when what was found comes again, after the step before it: by now it may be
        over, or the one long operator in it."""
        path, steps = self._asked
        # the answer may be late, and the step that was next be over
        expected = self._elsewhere.next_after(path, self._steps()) if path not in self._awaited else None
        if expected is None:
            # what is found after many steps comes with nearly each of them
            return steps != self._steps() and not self._elsewhere.comes_often(path)
        self._awaited.add(path)
        self._awaited_steps = expected
        return True

    def _comes_now(self, *, by_batches: bool) -> bool:
        """Whether the awaited step has ended; one that did not come is no longer awaited."""
        expected = self._awaited_steps
        if expected is None or by_batches or self._steps() < expected:
            return False
        self._awaited_steps = None
        return self._steps() == expected and self._may_begin_elsewhere() and self._budget.left_ns >= _LEAST_ELSEWHERE_NS

    def _end_anywhere(self) -> None:
        look = self._look
        if look is None or not look.installed or not self._here():
            return
        # most of a loop's bytecodes are run inside of its mode, where it is set aside, or of an inference mode
        if not self._stopped(look):
            self._at_next_lines(lambda: self._stopped(look))

    def _stopped(self, look: CloseLook) -> bool:
        if look is self._look and look.installed and self._here():
            self._stop(look, "seconds")
        return not look.installed

    def _wake_anywhere(self) -> None:
        look = self._look
        if look is None or not self._here() or look.wake():
            return
        attempts = itertools.count()
        self._at_next_lines(lambda: look.wake(anywhere=next(attempts) >= _LINES_OF_A_GUARD))

    def _at_next_lines(self, attempt: Callable[[], bool]) -> None:
        frame = mode_stack.caller_of_mode(sys._getframe()) or outside_frame()
        if frame is not None:
            at_next_lines(frame, attempt)

    def _overdue(self, look: CloseLook) -> bool:
        return not look.active or time.perf_counter_ns() - self._last_sign_ns > self._most_wall_ns

    def _stop(self, look: CloseLook, reason: str, *, lift: bool = False) -> None:
        if not look.stop(reason, lift=lift):
            return
        self._leave_out(self._first_step, self._steps())
        # a part of one iteration says little: where the cell runs on, there may be time for whole ones later
        known = not self._between_steps and not self._closed and self._steps() > 0
        if known and look.ended_by == "seconds" and look.iterations_seen < self._budget.wanted:
            plain_ns, step_ns = look.wall_ns - look.cost_ns + look.set_up_ns, self._iteration_ns
            if self._budget.cut_off(look.cost_ns, look.set_up_ns, plain_ns, step_ns, once_ns=look.loading_ns):
                self._cut_off, self._look = look, None
                return
        self._took(look)

    def _took(self, look: CloseLook) -> None:
        self._budget.spend(look.cost_ns)
        self._taken.append(look)
        self._elsewhere.seen(look.paths)
        if self._between_steps:
            self._elsewhere.looked()
        elif not self._steps():
            self._elsewhere.looked_for()
            self._missed_ns = look.cost_ns
        else:
            self._looked_loops |= self._loops
        # steps that come after a look beside them are still to be looked at
        self._looked |= not self._between_steps
        self._looked_after_ns = self._budget.elapsed_ns
        self._look, self._between_steps = None, False

    def _why_not(self) -> str:
        if not self._recorded():
            return "the kernel recording lasted to the end of the cell"
        if not self._budget.old_enough:
            return "the cell was too short"
        return "no iteration began while there was time for it"
