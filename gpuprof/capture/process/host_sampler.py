"""Reads this process up to ten times a second on a thread: memory, CPU use, those of its children (loader workers)."""

from __future__ import annotations

import math
import mmap
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from gpuprof.capture.base.own_processes import OWN
from gpuprof.capture.process.child_list import ChildList
from gpuprof.capture.process.core_times import times_told
from gpuprof.capture.process.kept_file import KeptFile
from gpuprof.capture.process.others_load import CoresInUse
from gpuprof.model.schema import HOST_READINGS
from gpuprof.model.table import Table

_PERIOD_S = 0.1
# where nothing hangs on a reading, of a long cell
_CALM_SHARE, _CALM_PERIOD_S = 0.02, 0.25
_CHILDREN_EVERY_S = _OTHERS_EVERY_S = 0.5
_STOP_WAIT_S = 2.0
_PAGE_BYTES = mmap.PAGESIZE


class _Others:
    """What is in use of the cores, less what this process and its children use: seldom, as the kernel counts in ticks
    of 10 ms."""

    def __init__(self) -> None:
        self._read_at = time.monotonic()
        self._own: list[float] = []

    def percent(self, in_use: CoresInUse, own_percent: float) -> float:
        """NaN between two readings of it. `own_percent`: of each reading."""
        self._own.append(own_percent)
        if time.monotonic() - self._read_at < _OTHERS_EVERY_S:
            return math.nan
        self._read_at, own = time.monotonic(), self._own
        self._own = []
        return max(in_use.since_last() * 100 - sum(own) / len(own), 0.0)


class HostSampler:
    """From `start` to `stop`, which returns the table `host_readings`.

    `on_tick(resident_bytes)`, with the process's resident memory, runs after each reading, on the sampling thread. It
    sets `calm` where it can wait longer: a period is then a fiftieth of the time so far, 0.1 to 0.25 s.
    """

    def __init__(self, on_tick: Callable[[int], None] | None = None):
        self._on_tick = on_tick
        self._rows: dict[str, list[float]] = {column.name: [] for column in HOST_READINGS.columns}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._children: dict[int, Any] = {}
        self._listed_children: dict[int, Any] = {}
        self._children_read_at = 0.0
        # on Linux the main thread has the number of its process
        self._scheduled, self._listed = KeptFile(f"/proc/{os.getpid()}/task/{os.getpid()}/schedstat"), ChildList()
        self._size = KeptFile(f"/proc/{os.getpid()}/statm")
        self._wall_ns, self._processor_ns = time.perf_counter_ns(), time.process_time_ns()
        self._main_ns = self._main_thread()
        self._in_use, self._others = CoresInUse(), _Others()
        self.failure: str | None = None
        self.calm = False
        self.cost_ns = 0
        self.latest_bytes: int | None = None

    def start(self) -> None:
        """Begin; where no thread can be had, `failure` says so."""
        self._thread = threading.Thread(target=self._run, name="gpuprof-host-readings", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._thread, self.failure = None, f"the host could not be sampled: {error}"

    def stop(self) -> Table:
        """End and return what was read; a later call returns the same."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_WAIT_S)
        for each in (self._scheduled, self._listed, self._size, self._in_use):
            each.close()
        return Table(HOST_READINGS, self._rows)

    def _run(self) -> None:
        import psutil

        try:
            process = psutil.Process()
            began, ended = time.monotonic(), False
            while not ended:
                # the last reading comes after the wait was ended
                ended = self._stop.wait(self._period_s(time.monotonic() - began))
                before = time.thread_time_ns()
                resident = self._resident_bytes(process)
                self.latest_bytes = resident
                if self._on_tick is not None and not ended:
                    self._on_tick(resident)
                self._read(resident)
                self.cost_ns += time.thread_time_ns() - before
        except Exception as error:  # noqa: BLE001  - the end of a thread: psutil and the platform raise what they like
            self.failure = f"the host was not sampled to the end: {type(error).__name__}: {error}"

    def _period_s(self, elapsed_s: float) -> float:
        return min(max(_CALM_SHARE * elapsed_s, _PERIOD_S), _CALM_PERIOD_S) if self.calm else _PERIOD_S

    def _read(self, resident_bytes: int) -> None:
        wall_ns, processor_ns, main_ns = time.perf_counter_ns(), time.process_time_ns(), self._main_thread()
        passed = max(1, wall_ns - self._wall_ns)
        busy = (processor_ns - self._processor_ns) / passed
        ran, waited = ((now - then) / passed for now, then in zip(main_ns, self._main_ns, strict=True))
        self._wall_ns, self._processor_ns, self._main_ns = wall_ns, processor_ns, main_ns
        children_percent, children_bytes = self._read_children()
        row = {
            "time_ns": time.time_ns(),
            "resident_bytes": resident_bytes,
            "cpu_percent": busy * 100,
            "children_cpu_percent": children_percent,
            "children_resident_bytes": children_bytes,
            "main_thread_percent": ran * 100,
            "main_core_wait_percent": waited * 100,
            "other_cpu_percent": self._others.percent(self._in_use, busy * 100 + children_percent),
        }
        for name, values in self._rows.items():
            values.append(row[name])

    def _read_children(self) -> tuple[float, int]:
        import psutil

        if time.monotonic() - self._children_read_at > _CHILDREN_EVERY_S:
            self._listed_children = self._listed.read(self._listed_children)
            self._children = {pid: child for pid, child in self._listed_children.items() if pid not in OWN}
            self._children_read_at = time.monotonic()
        busy, resident = 0.0, 0
        for pid, child in list(self._children.items()):
            try:
                busy += child.cpu_percent(None)
                resident += child.memory_info().rss
            except psutil.Error:  # it has ended
                del self._children[pid]
        return busy, resident

    def _resident_bytes(self, process: Any) -> int:
        try:
            return int(self._size.read().split()[1]) * _PAGE_BYTES
        except (OSError, IndexError, ValueError):  # not Linux
            return int(process.memory_info().rss)

    def _main_thread(self) -> tuple[float, float]:
        """Nanoseconds that the main thread ran and waited for a core; NaN where that is not known."""
        try:
            return times_told(self._scheduled.read()) or (math.nan, math.nan)
        except OSError:
            return math.nan, math.nan
