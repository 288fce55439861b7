"""The device sampler: one daemon thread that reads NVML while a cell runs and never lets it notice."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Sequence

from gpuprof.capture.nvml import nvml
from gpuprof.capture.nvml.nvml_choice import Choice
from gpuprof.capture.nvml.nvml_log import make_log
from gpuprof.capture.nvml.nvml_pace import NS, Pace, interpreter_wait_ns
from gpuprof.capture.nvml.nvml_rows import NvmlRows
from gpuprof.errors import UsageError
from gpuprof.model.readings import DeviceFacts, DeviceReading, ReadingLog

__all__ = ["DeviceSampler"]

_MOST_HZ = 100.0
_MOST_RECENT = 600
_STOP_WAIT_S = 2.0
_FORK_WAIT_S = 0.2

# held around driver calls: a fork in the middle of one would leave the child with the driver library's locks taken
_driver_call = threading.Lock()
_held_for_fork = False


def _before_fork() -> None:
    global _held_for_fork
    _held_for_fork = _driver_call.acquire(timeout=_FORK_WAIT_S)


def _after_fork_in_parent() -> None:
    if _held_for_fork:
        _driver_call.release()


def _after_fork_in_child() -> None:
    global _driver_call
    _driver_call = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)


class DeviceSampler:
    """Readings devices from `start` to `stop`.

    `devices` are torch indices or UUIDs (`GPU-…`, `MIG-…`); None means those torch drives, or every device where
    torch's cannot be told. `hz` is the asked rate in 1/s, in (0, 100]; other values raise UsageError. Nothing after
    the constructor raises: what goes wrong stands in the ReadingLog.
    """

    def __init__(self, devices: Sequence[str | int] | None = None, hz: float = 10.0):
        if not (math.isfinite(hz) and 0 < hz <= _MOST_HZ):
            raise UsageError(f"sampling rate {hz}: expected a number of readings a second, above 0 and at most 100")
        self._hz = float(hz)
        self._choice = Choice(devices)
        self._rows = NvmlRows()
        self._recent: deque[DeviceReading] = deque(maxlen=_MOST_RECENT)
        self._tick = 0
        self._pace = Pace(self._hz, time.perf_counter_ns())
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._failure: str | None = None
        self._keep: list[int] | None = None
        self._log: ReadingLog | None = None

    def start(self) -> None:
        """Begin. NVML is initialised on the thread: without persistence mode that alone can take a second."""
        if self._thread is not None or self._log is not None:
            return
        thread = threading.Thread(target=self._run, name="gpuprof-device-readings", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            self._failure = f"the sampling thread could not start: {error}"
            return
        self._thread = thread

    def stop(self) -> ReadingLog:
        """End and return what was seen; every later call returns the same log."""
        if os.getpid() != self._pid:
            return ReadingLog(hz_asked=self._hz, unavailable="this process was forked from the one that readings")
        if self._log is not None:
            return self._log
        self._stop.set()
        hung = False
        if self._thread is not None:
            self._thread.join(_STOP_WAIT_S)
            hung = self._thread.is_alive()
        elif self._failure is None:
            self._failure = "the sampler was never started"
        self._log = make_log(self._choice, self._keep, self._rows, self._pace, self._hz, self._failure, hung=hung)
        return self._log

    def latest(self) -> list[DeviceReading]:
        """The newest reading of each device that still answers, for a live view; empty before the first."""
        if os.getpid() != self._pid:
            return []
        return [device.latest for device in self._choice.devices if device.latest is not None and not device.lost]

    def recent(self) -> tuple[DeviceReading, ...]:
        """The readings of about the last minute, oldest first, for a live view."""
        return () if os.getpid() != self._pid else tuple(self._recent)

    def facts(self) -> list[DeviceFacts]:
        """What is known of the devices so far; the `device` of a reading is a position in it."""
        return [device.facts() for device in self._choice.devices]

    @property
    def unavailable(self) -> str | None:
        """Why there will be no readings, as far as is known by now."""
        return self._failure or self._choice.unavailable

    def _run(self) -> None:
        try:
            with _driver_call:
                self._failure = nvml.start()
            if self._failure is None:
                try:
                    self._session()
                finally:
                    with _driver_call:
                        nvml.finish()
        except nvml.NvmlCallError as error:
            self._failure = f"NVML lists no devices: {error.reason}"
        except Exception as error:  # noqa: BLE001 - the end of our thread: a traceback here would land in the user's cell
            self._failure = f"the device sampler failed: {type(error).__name__}: {error}"

    def _session(self) -> None:
        with _driver_call:
            self._choice.open()
            for device in self._choice.devices:
                device.begin()
        self._pace = Pace(self._hz, time.perf_counter_ns())
        while self._choice.devices and not self._stop.is_set():
            self._read_all()
            self._stop.wait(self._pace.wait_ns(time.perf_counter_ns()) / NS)
        if self._choice.devices:
            self._read_all(last=True)
            with _driver_call:
                for device in self._choice.devices:
                    device.end()
        self._keep = self._choice.settle()

    def _read_all(self, last: bool = False) -> None:
        now_ns, cpu_ns = time.perf_counter_ns(), time.thread_time_ns()
        if last:
            self._pace.close(now_ns)
        else:
            self._pace.tick(now_ns)
        slow = last or self._tick % self._pace.slow_every == 0
        for device in self._choice.devices:
            with _driver_call:
                reading = device.reading(slow)
            if reading is not None:
                self._rows.add(self._tick, reading)
                self._recent.append(reading)
        self._tick += 1
        self._pace.worked(time.thread_time_ns() - cpu_ns, interpreter_wait_ns())
        if last or self._pace.window_full(now_ns):
            in_driver = sum(device.take_cost_ns(self._pace.wait_per_call_ns) for device in self._choice.devices)
            self._pace.settle(time.perf_counter_ns(), in_driver)
        if self._rows.thin():
            self._tick = (self._tick + 1) // 2
            self._pace.halve()
