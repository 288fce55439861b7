"""The close look, from `start` to `stop`: a dispatch mode at the bottom of the stack, within a budget.

Nothing that goes wrong in here may reach the cell: the look then ends, and the operators run as they would.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from gpuprof.capture.base.transforms import transformed
from gpuprof.capture.look import mode_stack
from gpuprof.capture.look.fingerprint_taker import FingerprintTaker
from gpuprof.capture.look.guard_level import GuardLevel, guarded, outside_frame
from gpuprof.capture.look.operator_log import OperatorLog
from gpuprof.capture.look.operator_seen import OperatorWatch
from gpuprof.capture.look.outside_reads import OutsideReads
from gpuprof.capture.look.places import LinePath, Places
from gpuprof.capture.look.rounds import with_rounds
from gpuprof.capture.look.values import Values
from gpuprof.capture.look.zeros import ZeroCounter
from gpuprof.capture.memory.modules import modules_around
from gpuprof.model.kinds import ValueKind
from gpuprof.model.look import Look
from gpuprof.model.table import Table
from gpuprof.units import NS_PER_S

MOST_OPERATORS = 40_000
MOST_SECONDS = 1.0
MOST_BYTES = 4 * 1024**3
# what setting up takes counts as a cost, but leaves that much of the seconds to the operators: a GPU may load for long
_LEAST_FOR_OPERATORS = 0.6


class CloseLook:
    """Looks at the operators that the calling thread runs, and at those of its backward passes.

    `filename` is the profiled cell's. `iterations` (None: they are not known, and the look goes on until it is stopped
    or a budget is used up) end the look, counted by `iteration_ended`. The budgets are of the look itself: operators
    seen, seconds that looking took, bytes of values that were hashed. `namespace`: where the variables are, to know
    buffers by. `inspect`: zeros are counted on a GPU, too, and in small and very large matrices.

    `set_up_ns`: what its beginning took, of the processor; `loading_ns` of it loads what a device needs for hashing.

    Also a context manager. `result` gives the tables and what there is to say of them, after `stop`.
    """

    def __init__(
        self,
        filename: str | None = None,
        *,
        iterations: int | None = None,
        most_operators: int = MOST_OPERATORS,
        most_seconds: float = MOST_SECONDS,
        most_bytes: int = MOST_BYTES,
        namespace: Mapping[str, Any] | None = None,
        inspect: bool = False,
    ):
        self._iterations = iterations
        self._most_operators = most_operators
        self._most_ns = int(most_seconds * NS_PER_S)
        self._most_bytes = most_bytes
        self._filename, self._namespace, self._inspect = filename, namespace, inspect
        self._ident = threading.get_ident()
        self._pid = os.getpid()
        self._mode: Any = None
        self._level: GuardLevel | None = None
        self._hooks: list[Any] = []
        self._start_ns = self._end_ns = 0
        self._counts: list[int] = []
        self._ended_by: str | None = None
        self._skipped: str | None = None
        self.set_up_ns = self.loading_ns = 0
        # of a look between steps: the next step ended it
        self.to_next_step = False

    def __enter__(self) -> CloseLook:
        if self.start():
            self._hook_optimizers()
        return self

    def __exit__(self, *_: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()
        self.stop(lift=True)

    @property
    def active(self) -> bool:
        """Whether operators are being looked at."""
        return self._start_ns > 0 and self._ended_by is None

    @property
    def skipped(self) -> str | None:
        """Why `start` did nothing."""
        return self._skipped

    @property
    def installed(self) -> bool:
        """Whether its mode is on the stack, active or not."""
        return self._mode is not None

    @property
    def ended_by(self) -> str | None:
        """What ended it; None while it is active."""
        return self._ended_by

    @property
    def iterations_seen(self) -> int:
        """Iterations that were seen to their end."""
        return max(len(self._counts) - 1, 0)

    @property
    def seen(self) -> tuple[int, int]:
        """Iterations that were seen to their end, and operators: of two looks the one with more tells more."""
        return self.iterations_seen, self._log.count()

    @property
    def paths(self) -> set[LinePath]:
        """The chains of lines by which it came to the operators that it saw."""
        return self._places.paths if self._start_ns else set()

    @property
    def wall_ns(self) -> int:
        """From its start to its end; 0 where it has not ended."""
        return max(self._end_ns - self._start_ns, 0)

    def start(self) -> bool:
        """Begin; False, with nothing changed, where it must not, and `result` says why."""
        try:
            self._skipped = mode_stack.in_the_way()
            if self._skipped is None:
                self._set_up()
        except Exception as error:  # noqa: BLE001  - the cell's own objects are asked, in the middle of the cell
            self._skipped = f"the look could not begin: {type(error).__name__}"
            self._end("error")
        return self._skipped is None

    def _set_up(self) -> None:
        began = time.thread_time_ns()
        self._log, self._places = OperatorLog(), Places(self._filename)
        self._fingerprints = FingerprintTaker(self._most_bytes, self._left_ns)
        self._zeros = ZeroCounter(self._left_ns, inspect=self._inspect)
        self._values = Values(self._fingerprints, self._zeros, self._log.names.number, self._log.count)
        self._watch = OperatorWatch(self._log, self._values, self._places, self._ident)
        self._outside = OutsideReads(self._read_outside, self._replayed)
        self._counts = [0]
        if self._iterations is not None:
            self._watch.iteration = 0
        self._know_buffers()
        loads = time.thread_time_ns()
        self._fingerprints.warm_up()
        self.loading_ns = time.thread_time_ns() - loads
        mode = mode_stack.mode_of(self)
        self._start_ns = time.time_ns()
        self._outside.install()
        self.set_up_ns = time.thread_time_ns() - began
        _begun.add(self)
        self._mode = mode  # before it is on the stack: a Ctrl-C in between must not hide it
        self._level = GuardLevel()
        mode_stack.push(mode)

    @property
    def asleep(self) -> bool:
        """Whether it gets no operators any more, though it is active: it began within an inference mode that ended."""
        return self.active and mode_stack.is_asleep(self._mode)

    def wake(self, *, anywhere: bool = False) -> bool:
        """Get operators again; False where another inference mode is on, which may end soon. `anywhere`: then too, in a
        function that ran when the look began."""
        if not self.asleep:
            return True
        if transformed():
            return False
        frame = outside_frame()
        outer = anywhere and self._level is not None and frame is not None and self._level.had(frame)
        if guarded() and not outer:
            return False
        self._level = GuardLevel()
        mode_stack.wake(self._mode)
        return True

    def stop(self, reason: str = "cell", *, lift: bool = False) -> bool:
        """End, on the thread that started; False where the mode could not be taken off yet: then call again, at a
        later place. It is silent meanwhile. `lift`: also from below modes of the cell's."""
        self._end(reason)
        if self._mode is None:
            return True
        if (
            threading.get_ident() != self._ident
            or os.getpid() != self._pid
            or not (self._level is None or self._level.is_here() or mode_stack.is_asleep(self._mode))
            or not mode_stack.remove(self._mode, lift=lift)
        ):
            return False
        self._mode = None
        return True

    def iteration_ended(self) -> None:
        """An iteration of the cell has ended; the last one ends the look."""
        if not self.active or self._iterations is None:
            return
        self._counts.append(self._log.count())
        self._watch.iteration += 1
        # the allocations of an iteration are freed by now: what was learned of addresses stays short
        if len(self._counts) > self._iterations:
            self._end("iterations")

    def step_begins(self, optimizer: Any) -> None:
        """An optimizer is about to step: the gradients are there."""
        if self.active:
            self._watch.optimizer = self._log.names.number(type(optimizer).__name__)
        self._mark(self._values.mark_gradients)
        self._mark(lambda: self._values.mark(_gradients_of(optimizer), ValueKind.GRADIENT))

    def step_ended(self, optimizer: Any) -> None:
        """An optimizer has stepped: its state is there."""
        if self.active:
            self._watch.optimizer = -1
        self._mark(lambda: self._values.mark(_state_of(optimizer), ValueKind.OPTIMIZER_STATE))

    def result(self) -> tuple[tuple[Table, ...], Look]:
        """The tables and what to say of them. Fingerprints are read back from devices here: it waits for them."""
        if not self._start_ns:
            return (), Look(skipped=self._skipped or "it was never started")
        with self._watch.lock:
            operators, *others = self._log.tables(self._values)
            operators = operators.replace(node=self._watch.nodes.fates(len(operators)))
        values, iterations, share = self._values, self.iterations_seen, self._operators_share()
        if self._iterations is None:
            operators, iterations, share = with_rounds(operators, share, to_next_step=self.to_next_step)
        # which may add places
        paths = self._places.numbered_paths
        return (operators, *others), Look(
            iterations=iterations,
            start_ns=self._start_ns,
            end_ns=self._end_ns or time.time_ns(),
            operators_share=share,
            ended_by=self._ended_by or "cell",
            cost_ns=self.cost_ns,
            fingerprinted_share=values.taken_bytes / values.wanted_bytes if values.wanted_bytes else 1.0,
            paths=paths,
            places=tuple(self._places.found),
            subnormal_slowdown=self._zeros.subnormals.slowdown,
            unseen_writes=self._values.unseen_writes + self._watch.compiled,
            names=self._log.names.all,
        )

    @property
    def cost_ns(self) -> int:
        """What looking has taken so far, of the processor."""
        return self.set_up_ns + self._watch.cost_ns if self._start_ns else 0

    def dispatched(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Run one operator, and look at it where that is allowed."""
        if self._ended_by is not None or os.getpid() != self._pid:
            return func(*args, **kwargs)
        # of this thread alone: others may have the interpreter or the cores meanwhile, as they would without the look
        began = time.thread_time_ns()
        try:
            # the mode's caller; a device's backward pass has a thread of its own, where nothing of Python's calls it
            seen = self._watch.before(func, types, args, kwargs, sys._getframe(1).f_back)
        except Exception as error:  # noqa: BLE001  - in the middle of the user's operator: it must run all the same
            self._fail(error)
            return func(*args, **kwargs)
        if seen is None:
            return func(*args, **kwargs)
        looked = time.thread_time_ns()
        started = time.perf_counter_ns()
        made = func(*args, **kwargs)
        ended = time.perf_counter_ns()
        ran = time.thread_time_ns()
        try:
            self._watch.after(seen, made, started, ended)
        except Exception as error:  # noqa: BLE001  - as above
            self._fail(error)
        self._watch.cost_ns += time.thread_time_ns() - ran + looked - began
        if self._log.count() >= self._most_operators:
            self._end("operators")
        elif self._left_ns() <= 0:
            self._end("seconds")
        return made

    def leave_child(self) -> None:
        """This process was forked while the look lasted: it does without, a worker runs long."""
        if self._start_ns:
            self._ended_by = self._ended_by or "cell"
            self._outside.remove()
            mode_stack.remove(self._mode, lift=True)

    def _left_ns(self) -> int:
        most_set_up_ns = int(self._most_ns * (1 - _LEAST_FOR_OPERATORS))
        return self._most_ns - min(self.set_up_ns, most_set_up_ns) - self._watch.cost_ns

    def _end(self, reason: str) -> None:
        if self._ended_by is None:
            self._ended_by = reason
            self._end_ns = time.time_ns()
            if self._start_ns:
                self._outside.remove()
                with self._watch.lock:
                    self._fingerprints.rest()
                    self._watch.nodes.end()
                    self._values.sweep()

    def _fail(self, error: Exception) -> None:
        self._end("error")
        self.failure = error.with_traceback(None)  # whose frames would hold the cell's tensors

    failure: Exception | None = None

    def _operators_share(self) -> float | None:
        """Of the last iteration, where it was cut off, as many are missing as the longest one had more."""
        whole = self._ended_by == "iterations" or (self._ended_by == "cell" and self._iterations is None)
        if whole or self._iterations is None:
            return 1.0 if whole else None
        seen = [later - earlier for earlier, later in zip(self._counts, self._counts[1:], strict=False)]
        if not seen:
            return None
        last = self._log.count() - self._counts[-1]
        return self._log.count() / (self._counts[-1] + max(*seen, last))

    def _read_outside(self, tensor: Any, may_write: bool) -> None:
        if not self.active or threading.get_ident() != self._ident or os.getpid() != self._pid:
            return
        try:
            with self._watch.lock:
                self._values.sweep()
                self._values.read_outside(tensor, may_write=may_write)
        except Exception as error:  # noqa: BLE001  - in the middle of the user's call
            self._fail(error)

    def _replayed(self) -> None:
        """The replay of a graph writes what no operator shows."""
        if self.active:
            self._watch.compiled += 1
            self._values.doubt()

    def _know_buffers(self) -> None:
        modules = [module for _, module in modules_around(sys._getframe(1), self._namespace)]
        self._values.expect((buffer for module in modules for buffer in module.buffers()), ValueKind.BUFFER)
        self._values.expect((each for module in modules for each in module.parameters()), ValueKind.PARAMETER)

    def _hook_optimizers(self) -> None:
        # only where no session tells of steps: inside of a hook, none may be added or taken away
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        def before(optimizer: Any, _args: Any, _kwargs: Any) -> None:
            self.step_begins(optimizer)

        def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
            self.step_ended(optimizer)

        if "torch._dynamo" in sys.modules:
            import torch._dynamo

            before, after = (torch._dynamo.disable(hook) for hook in (before, after))  # type: ignore[no-untyped-call]
        self._hooks = [register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)]

    def _mark(self, mark: Any) -> None:
        if not self.active:
            return
        try:
            with self._watch.lock:
                self._values.sweep()
                mark()
        except Exception as error:  # noqa: BLE001  - inside the user's step()
            self._fail(error)


def _leave_children() -> None:
    for look in list(_begun):
        look.leave_child()


_begun: weakref.WeakSet[CloseLook] = weakref.WeakSet()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_children)


def _gradients_of(optimizer: Any) -> Iterator[Any]:
    parameters = (each for group in optimizer.param_groups for each in group["params"])
    return (each.grad for each in parameters if each.grad is not None)


def _state_of(optimizer: Any) -> Iterator[Any]:
    import torch

    states = (each for each in optimizer.state.values() if isinstance(each, dict))
    return (value for state in states for value in state.values() if isinstance(value, torch.Tensor))
