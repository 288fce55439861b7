"""Follows the lines of the user's own code with `sys.monitoring` (Python 3.12 and newer).

Every code object that is entered is looked at once; lines are only followed in those of the notebook. A tool id of its
own (never 2, which torch takes for itself) leaves debuggers and coverage alone.
"""

from __future__ import annotations

import sys
import threading
import time
from types import CodeType
from typing import Any

import numpy as np

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.notebook_files import is_users, user_frames
from gpuprof.capture.lines.line_log import BITS, ENTERED, LEFT, MOST_ENTRIES, LineLog, ThreadLog

monitoring: Any = getattr(sys, "monitoring", None)
_TOOL_IDS = (4, 3)
_BLOCK = 4096  # entries between two looks at the cost
_TRIED = 200  # lines of our own whose following is timed
_TRIALS = 5
_FREE_NS = 25_000_000
_MOST_SHARE = 0.02


class LineMonitor:
    """From `install` to `remove`; entries are made from `begin` to `pause`.

    Code whose lines come so often that following them would take more than 2 % of the time (after the first 25 ms) is
    dropped, the busiest first; its time then counts for the line that called it. `notes` says so. `ended_ns`: when the
    log was full, 0 where it was not. `entry_ns`: what following one line takes on this machine, interpreter
    included, as measured before the first is followed.
    """

    how = "monitoring"

    def __init__(self, log: LineLog):
        self.log = log
        self.notes: list[str] = []
        self._on = False
        self._tool: int | None = None
        self._codes: list[CodeType] = []
        self._base: dict[int, int] = {}
        self._dropped: set[int] = set()
        self._logs: dict[int, ThreadLog] = {}
        self._began_ns = 0
        self.ended_ns = 0
        self.entry_ns = 0.0

    def install(self) -> None:
        """Take a tool id and ask for the events; without a free id nothing is followed, and `notes` says so."""
        for tool in _TOOL_IDS:
            try:
                monitoring.use_tool_id(tool, "gpuprof")
            except ValueError:
                continue
            self._tool = tool
            break
        else:
            self.notes.append("no line was followed: other tools use Python's monitoring (a debugger or profiler)")
            return
        events = monitoring.events
        monitoring.register_callback(self._tool, events.PY_START, self._entered)
        monitoring.register_callback(self._tool, events.PY_RESUME, self._entered)
        monitoring.register_callback(self._tool, events.LINE, self._line)
        monitoring.register_callback(self._tool, events.PY_RETURN, self._left)
        monitoring.register_callback(self._tool, events.PY_YIELD, self._left)

    def begin(self) -> None:
        """Follow from here on, and forget what was followed before."""
        if self._tool is None:
            return
        self.entry_ns = self._measured_entry_ns()
        self.log.clear()
        self._logs = {}
        self._began_ns, self.ended_ns = time.time_ns(), 0
        for frame in user_frames(self.log.files[0]):
            base = self._follow(frame.f_code)
            log = self._own_log()
            log.add(base + ENTERED)
            log.add(base + frame.f_lineno)
        self._on = True
        events = monitoring.events
        monitoring.set_events(self._tool, events.PY_START | events.PY_RESUME)
        monitoring.restart_events()

    def pause(self) -> None:
        """Follow no further."""
        self._on = False
        if self._tool is not None and not exclusive_session.forked():
            monitoring.set_events(self._tool, 0)

    def remove(self) -> None:
        """Give the tool id back; does nothing a second time."""
        self.pause()
        tool, self._tool = self._tool, None
        if tool is None:
            return
        events = monitoring.events
        for code in self._codes:
            monitoring.set_local_events(tool, code, 0)
        for event in (events.PY_START, events.PY_RESUME, events.LINE, events.PY_RETURN, events.PY_YIELD):
            monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
        self._codes.clear()

    @property
    def cost_ns(self) -> int:
        """About what it has taken."""
        return round(self.log.entries * self.entry_ns)

    def _measured_entry_ns(self) -> float:
        """Lines of our own, with and without being followed: the shortest of a few runs of each, so that what other
        programs do at the time does not count."""
        trial = compile("\n".join(["pass"] * _TRIED), self.log.files[0], "exec")
        self._follow(trial)
        self._on = True
        followed = min(_duration_ns(trial) for _ in range(_TRIALS))
        self._on = False
        monitoring.set_local_events(self._tool, trial, 0)
        return max(followed - min(_duration_ns(trial) for _ in range(_TRIALS)), 0) / _TRIED

    def _entered(self, code: CodeType, _offset: int) -> Any:
        try:
            base = self._base.get(id(code))
            if base is None:
                if not is_users(code.co_filename, self.log.files[0]):
                    return monitoring.DISABLE
                base = self._follow(code)
            if self._on and id(code) not in self._dropped:
                self._own_log().add(base + ENTERED)
                return None
        except Exception as error:  # noqa: BLE001  - inside the user's code: a fault of ours must not end it
            self._fail(error)
        return monitoring.DISABLE

    def _left(self, code: CodeType, _offset: int, _value: object) -> Any:
        try:
            if self._on:
                self._own_log().add(self._base[id(code)] + LEFT)
                return None
        except Exception as error:  # noqa: BLE001  - as above
            self._fail(error)
        return monitoring.DISABLE

    def _line(self, code: CodeType, number: int) -> Any:
        try:
            if self._on:
                log = self._logs.get(threading.get_ident()) or self._own_log()
                times = log.times
                times.append(time.time_ns())
                log.keys.append(self._base[id(code)] + number)
                if not len(times) % _BLOCK:
                    self._look_at_cost(log)
                return None
        except Exception as error:  # noqa: BLE001  - as above
            self._fail(error)
        return monitoring.DISABLE

    def _fail(self, error: Exception) -> None:
        self._on, self.ended_ns = False, time.time_ns()
        self.notes.append(f"lines were followed for a part of the recording only ({type(error).__name__}: {error})")

    def _own_log(self) -> ThreadLog:
        log = self.log.of_thread()
        self._logs[threading.get_ident()] = log
        return log

    def _follow(self, code: CodeType) -> int:
        if id(code) not in self._base:
            self._codes.append(code)  # held, so that its id stays its own
            self._base[id(code)] = self.log.new_place(code.co_filename)
        if id(code) not in self._dropped:
            events = monitoring.events
            monitoring.set_local_events(self._tool, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
        return self._base[id(code)]

    def _look_at_cost(self, log: ThreadLog) -> None:
        if exclusive_session.forked():  # nobody will read what a DataLoader worker notes
            self._on = False
            return
        entries = self.log.entries
        elapsed_ns = time.time_ns() - self._began_ns
        if entries >= MOST_ENTRIES:
            self._on, self.ended_ns = False, time.time_ns()
            self.notes.append(
                f"lines were followed for the first {elapsed_ns / 1e9:.0f} s of the recording only: so many came"
            )
        elif entries * self.entry_ns > _FREE_NS + _MOST_SHARE * elapsed_ns:
            keys = np.array(log.keys[-_BLOCK:])
            place = int(np.bincount(keys >> BITS).argmax())
            lines = keys[keys >> BITS == place] & LEFT
            self._drop(place, log, int(lines[(lines != ENTERED) & (lines != LEFT)].min(initial=LEFT)))

    def _drop(self, place: int, log: ThreadLog, first_line: int) -> None:
        code = self._codes[place]
        if id(code) in self._dropped:
            return
        self._dropped.add(id(code))
        monitoring.set_local_events(self._tool, code, 0)
        log.add((place << BITS) + LEFT)
        what = "the cell" if code.co_name == "<module>" else f"`{code.co_name}`"
        where = f" around line {first_line}" if first_line < LEFT else ""
        self.notes.append(
            f"the lines of {what}{where} were followed for a while only: they come so often that following them would "
            "slow the cell"
        )


def _duration_ns(code: CodeType) -> int:
    began = time.perf_counter_ns()
    exec(code, {})
    return time.perf_counter_ns() - began
