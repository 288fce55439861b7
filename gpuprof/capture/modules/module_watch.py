"""Which module runs when while kernels are recorded, at a cost that is measured and kept to 1 % of that time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from gpuprof.capture.base.compiler_skips import hide_from_compiler
from gpuprof.capture.modules.call_swap import CallSwap, Log, has_compiled, has_own_call
from gpuprof.capture.modules.mark_log import MOST_CALLS, MarkLog, ThreadMarks
from gpuprof.capture.modules.module_names import paths_of
from gpuprof.model.marked_modules import MarkedModule, MarkedModules
from gpuprof.model.schema import MODULE_CALLS
from gpuprof.model.table import Table

MOST_SHARE = 0.01
# so that it does not go on and off at every look
_AGAIN_SHARE = 0.008
_TRIED = 100
_ROUNDS = 5  # the quickest counts: others may have the cores meanwhile
_COMPILED = "modules are not followed: compiled code of this process contains modules with a `__call__` of their own"
_UNKNOWN = "modules are not followed: this torch calls them in a way that gpuprof does not know"


class ModuleWatch:
    """From `install` to `finish` or `remove`; marks from each `begin` to the next `pause`, the last time counts.

    Where marking has taken more than MOST_SHARE of the time it stops before the next call from outside of any module,
    and goes on with such a call later: whole passes are marked or none of them. Nothing here raises.
    """

    def __init__(self) -> None:
        self._log = MarkLog()
        self._swap: CallSwap | None = None
        self._call_ns = 0.0
        self._turn = ""  # "off" or "on" is wanted with the next outermost call
        self._roots: set[int] = set()
        self._numbered = 0
        self._compiler_seen = False
        self._light = 0
        self._marking = False
        self._start_ns = self._end_ns = 0
        self._began_ns = 0
        self._gaps: list[tuple[int, int]] = []
        self._paths: list[tuple[str, ...]] = []
        self._failures: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what could not be followed."""
        return tuple(dict.fromkeys(self._failures))

    def install(self) -> None:
        """Get ready, and measure what a mark costs; torch is imported here."""
        self._guarded(self._install)

    def begin(self) -> None:
        """Mark from here on; what was marked before is forgotten."""
        self._guarded(self._begin)

    def tick(self) -> None:
        """From the watching thread, about ten times a second: keep the cost in bounds."""
        self._guarded(self._keep_bounds)

    def pause(self) -> None:
        """Mark no further; the modules' names are read now, while they are alive."""
        self._guarded(self._pause)

    def remove(self) -> None:
        """Put torch's code back."""
        if self._swap is not None:
            self._swap.off()

    def finish(self) -> tuple[MarkedModules | None, Table]:
        """End, and return what was seen: None and no rows where no module ran."""
        self.pause()
        self.remove()
        try:
            return self._result()
        except Exception as error:  # noqa: BLE001  - a fault of ours must not cost the user the run
            self._failed(error)
            return None, Table(MODULE_CALLS)

    def _install(self) -> None:
        # between two graphs of a compiled function it would be compiled as well
        hide_from_compiler(ModuleWatch, MarkLog, ThreadMarks, _dropped)
        swap = CallSwap(self._marker(), time.time_ns)
        if not swap.possible:
            self._failures.append(_UNKNOWN)
            return
        self._call_ns = _cost_ns(swap)
        self._log.clear()
        self._swap = swap

    def _begin(self) -> None:
        self._start_ns = self._end_ns = 0
        if self._swap is None:
            return
        self._compiler_seen = False
        if self._spoils_compiled():
            return
        self._log.clear()
        self._gaps, self._turn, self._light, self._paths = [], "", 0, []
        self._start_ns, self._began_ns = time.time_ns(), time.perf_counter_ns()
        self._marking = True
        self._swap.on()

    def _pause(self) -> None:
        if self._swap is None or not self._start_ns or self._end_ns:
            return
        self._swap.off()
        self._end_ns = time.time_ns()
        if not self._marking:
            self._gaps[-1] = (self._gaps[-1][0], self._end_ns)
        alive = [each() for each in self._log.references]
        self._paths = paths_of(alive, self._log.outermost())

    def _keep_bounds(self) -> None:
        if self._swap is None or not self._start_ns or self._end_ns:
            return
        if self._turn == "never":
            return
        if self._log.calls > MOST_CALLS or self._spoils_compiled():
            self._stop_for_good()
            return
        taken = (self._log.calls + self._light / 2) * self._call_ns
        share = taken / max(time.perf_counter_ns() - self._began_ns, 1)
        if self._turn:
            return
        if self._marking and share > MOST_SHARE:
            self._roots, self._numbered = set(self._log.outermost()), len(self._log.kinds)
            self._turn = "off"
        elif not self._marking and share < _AGAIN_SHARE:
            self._turn = "on"
            self._swap.on()

    def _spoils_compiled(self) -> bool:
        """Whether compiled code of this process would be compiled anew; asked of the classes once."""
        if self._compiler_seen or not has_compiled():
            return False
        self._compiler_seen = True
        if spoils := has_own_call():
            self._failures.append(_COMPILED)
        return spoils

    def _stop_for_good(self) -> None:
        if self._swap is not None and self._marking:
            self._marking = False
            self._gaps.append((time.time_ns(), 0))
        self.remove()
        self._turn = "never"

    def _marker(self) -> Callable[[Any], Log]:
        """What runs before each call: as little as can be."""
        log = self._log
        number_of, now = log.numbers.get, time.time_ns

        def begin(module: Any) -> Log:
            append = getattr(log.local, "append", None) or log.new_thread()
            number = number_of(id(module))
            if number is None:
                number = log.new_module(module)
            if self._turn and not self._goes_on(number):
                return _dropped
            append(number)
            append(now())
            return append

        return begin

    def _goes_on(self, number: int) -> bool:
        """Whether to mark this call, while marking is about to end or to begin again."""
        if self._turn == "never":
            return False
        inner = number not in self._roots and number < self._numbered
        if inner or not self._is_outermost(sys._getframe(3)):
            self._light += not self._marking
            return self._marking
        self._marking = self._turn == "on"
        self._turn = ""
        if self._marking:
            self._gaps[-1] = (self._gaps[-1][0], time.time_ns())
        else:
            self._gaps.append((time.time_ns(), 0))
            self.remove()
        return self._marking

    def _is_outermost(self, frame: FrameType | None) -> bool:
        """Whether no module's call is among that frame and its callers."""
        codes = () if self._swap is None else self._swap.codes
        while frame is not None:
            if frame.f_code in codes:
                return False
            frame = frame.f_back
        return True

    def _result(self) -> tuple[MarkedModules | None, Table]:
        columns = self._log.columns(self._end_ns)
        if not self._start_ns or not len(columns["module"]):
            return None, Table(MODULE_CALLS)
        facts = [MarkedModule(kind=kind, paths=paths) for kind, paths in self._described()]
        distinct = list(dict.fromkeys(facts))  # those that are gone and of one class are one
        place = {fact: row for row, fact in enumerate(distinct)}
        rows = np.array([place[fact] for fact in facts], np.int64)
        table = Table(MODULE_CALLS, columns | {"module": rows[columns["module"]]})
        return MarkedModules(
            start_ns=self._start_ns,
            end_ns=self._end_ns,
            modules=tuple(distinct),
            gaps_ns=tuple(self._gaps),
            cost_share=(len(table) + self._light / 2) * self._call_ns / max(self._end_ns - self._start_ns, 1),
        ), table.take(np.lexsort((-table["duration_ns"], table["start_ns"])))

    def _described(self) -> list[tuple[str, tuple[str, ...]]]:
        missing = len(self._log.kinds) - len(self._paths)  # begun by another thread after the end
        return list(zip(self._log.kinds, [*self._paths, *[()] * missing], strict=False))

    def _guarded(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001  - as above; a Ctrl-C passes
            self._failed(error)
            self.remove()

    def _failed(self, error: Exception) -> None:
        self._failures.append(f"the modules could not be followed ({type(error).__name__}: {error})")


def _dropped(_: int) -> None:
    """In the place of a log."""


def _cost_ns(swap: CallSwap) -> float:
    """What a mark adds to one call, ns."""
    import torch

    module = torch.nn.Identity()
    plain = min(_took_ns(module) for _ in range(_ROUNDS))
    swap.on()
    try:
        marked = min(_took_ns(module) for _ in range(_ROUNDS))
    finally:
        swap.off()
    return max(marked - plain, 0) / _TRIED


def _took_ns(module: Any) -> int:
    began = time.perf_counter_ns()
    for _ in range(_TRIED):
        module(0)
    return time.perf_counter_ns() - began
