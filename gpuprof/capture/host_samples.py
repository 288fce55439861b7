"""Samples this process ten times a second on a thread: memory, CPU use, and those of its children (loader workers)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from gpuprof.model.schema import HOST_SAMPLES
from gpuprof.model.table import Table

_PERIOD_S = 0.1
_CHILDREN_EVERY_S = 1.0  # finding them reads every process of the machine
_STOP_WAIT_S = 2.0


class HostSampler:
    """From `start` to `stop`, which returns the table `host_samples`.

    `on_tick(resident_bytes)`, with the process's resident memory, runs after each reading, on the sampling thread.
    """

    def __init__(self, on_tick: Callable[[int], None] | None = None):
        self._on_tick = on_tick
        self._rows: dict[str, list[float]] = {column.name: [] for column in HOST_SAMPLES.columns}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._children: dict[int, Any] = {}
        self._children_read_at = 0.0
        self.failure: str | None = None
        self.cost_ns = 0
        self.latest_bytes: int | None = None

    def start(self) -> None:
        """Begin; where no thread can be had, `failure` says so."""
        self._thread = threading.Thread(target=self._run, name="gpuprof-host-samples", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:
            self._thread, self.failure = None, f"the host could not be sampled: {error}"

    def stop(self) -> Table:
        """End and return what was read; a later call returns the same."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_STOP_WAIT_S)
        return Table(HOST_SAMPLES, self._rows)

    def _run(self) -> None:
        import psutil

        try:
            process = psutil.Process()
            process.cpu_percent(None)
            ended = False
            while not ended:
                # the last reading comes after the wait was ended
                ended = self._stop.wait(_PERIOD_S)
                began = time.thread_time_ns()
                resident = self._read(process)
                if self._on_tick is not None and not ended:
                    self._on_tick(resident)
                self.cost_ns += time.thread_time_ns() - began
        except Exception as error:  # noqa: BLE001  - the end of a thread: psutil and the platform raise what they like
            self.failure = f"the host was not sampled to the end: {type(error).__name__}: {error}"

    def _read(self, process: Any) -> int:
        if time.monotonic() - self._children_read_at > _CHILDREN_EVERY_S:
            self._find_children(process)
        busy, resident = self._read_children()
        own = int(process.memory_info().rss)
        row = {
            "time_ns": time.time_ns(),
            "resident_bytes": own,
            "cpu_percent": process.cpu_percent(None),
            "children_cpu_percent": busy,
            "children_resident_bytes": resident,
        }
        self.latest_bytes = own
        for name, values in self._rows.items():
            values.append(row[name])
        return own

    def _find_children(self, process: Any) -> None:
        found = {child.pid: child for child in process.children(recursive=True)}
        self._children = {pid: self._children.get(pid, child) for pid, child in found.items()}
        self._children_read_at = time.monotonic()

    def _read_children(self) -> tuple[float, int]:
        import psutil

        busy, resident = 0.0, 0
        for pid, child in list(self._children.items()):
            try:
                busy += child.cpu_percent(None)
                resident += child.memory_info().rss
            except psutil.Error:  # it has ended
                del self._children[pid]
        return busy, resident
