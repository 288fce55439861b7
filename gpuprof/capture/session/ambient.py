"""What runs alongside every cell while hints are on: samples of its stack and readings of the GPUs, nothing else.

No profiler and no hook: torch is neither imported nor changed. A cell that is shorter than a second costs a waiting
thread.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.capture.process.environment import read_environment
from gpuprof.capture.session.captured import Captured
from gpuprof.capture.stacks.stacks import StackWatch
from gpuprof.model.context import Cell, RunContext

_BEGIN_S = 1.0
_NVML_HZ = 2.0
_TICK_S = 0.25


class AmbientWatch:
    """Watches the calling thread from `start` to `stop` or `abandon`, from the first second of the cell on.

    Nothing here raises: what cannot be sampled is left out.
    """

    def __init__(self, cell: Cell, namespace: Mapping[str, Any] | None, *, begin_s: float = _BEGIN_S):
        self._cell = cell
        self._stacks = StackWatch(cell.filename, namespace)
        self._devices = DeviceSampler(hz=_NVML_HZ)
        self._begin_s = begin_s
        self._stop = threading.Event()
        self._began = False
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="gpuprof-hints", daemon=True)
        self._start_ns = time.time_ns()

    def start(self) -> None:
        """Begin to wait; where no thread can be had the cell goes without."""
        try:
            self._thread.start()
        except RuntimeError:
            self._stop.set()

    def elapsed_s(self) -> float:
        """Since it was made."""
        return (time.time_ns() - self._start_ns) / 1e9

    def stop(self) -> Captured | None:
        """End, and return what was seen; None where that is nothing."""
        if not self._end():
            return None
        stacks, tables = self._stacks.finish()
        log = self._devices.stop()
        if stacks is None:
            return None
        environment = read_environment(None) if "torch" in sys.modules else None
        sampling = {name: value for name, value in log.to_dict().items() if name != "table"}
        context = RunContext(
            cell=self._cell, created_ns=self._start_ns, environment=environment, stacks=stacks, sampling=sampling
        )
        return Captured(context, device_readings=log, large=tables)

    def abandon(self) -> None:
        """End, and keep nothing."""
        if self._end():
            self._stacks.abandon()
            self._devices.stop()

    def _end(self) -> bool:
        """Whether anything had begun. A forked child has neither the thread nor the samplers."""
        self._stop.set()
        with self._lock:
            began, self._began = self._began, False
        return began and os.getpid() == self._pid

    def _run(self) -> None:
        if self._stop.wait(self._begin_s):
            return
        with self._lock:
            if self._stop.is_set():
                return
            self._stacks.start()
            self._devices.start()
            self._began = True
        while not self._stop.wait(_TICK_S):
            self._stacks.tick()
