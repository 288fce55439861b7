"""A sampler that reads when the test says so, on a clock that the test moves: the machine's load changes nothing."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.capture.nvml import device_sampler, nvml_device, nvml_metrics
from gpuprof.capture.nvml.device_sampler import DeviceSampler
from gpuprof.model.readings import ReadingLog

WAIT_S = 120.0
NS = 1_000_000_000
EPOCH_NS = 1_700_000_000 * NS


class Clock:
    """Stands for the module `time`. Each look at it takes a microsecond, so that no two are the same."""

    def __init__(self) -> None:
        self.now_ns = 50 * NS

    def perf_counter_ns(self) -> int:
        self.now_ns += 1000
        return self.now_ns

    def time_ns(self) -> int:
        return EPOCH_NS + self.now_ns

    def thread_time_ns(self) -> int:
        return 0


class Turns:
    """Stands for the event on which a sampler sleeps between two readings: each sleep lasts until the test ends it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._asleep, self._woken = threading.Semaphore(0), threading.Semaphore(0)
        self._ended = False

    def is_set(self) -> bool:
        return self._ended

    def set(self) -> None:
        self._ended = True
        self._woken.release()

    def wait(self, seconds: float) -> bool:
        self._asleep.release()
        assert self._woken.acquire(timeout=WAIT_S)
        if not self._ended:
            self._clock.now_ns += round(seconds * NS)
        return self._ended

    def wake(self) -> None:
        self._woken.release()

    def reached(self, thread: threading.Thread) -> bool:
        """Whether a reading has been made; False where the sampler has ended instead."""
        while not self._asleep.acquire(timeout=0.02):
            if not thread.is_alive():
                return False
        return True


class Bench:
    """Makes samplers that obey `read`. `before[function]` is called at every call of the driver's function."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.before: dict[str, Callable[[], Any]] = {}
        self._turns: dict[int, Turns] = {}
        for module in (device_sampler, nvml_device, nvml_metrics):
            monkeypatch.setattr(module, "time", self.clock)
        monkeypatch.setattr(device_sampler, "interpreter_wait_ns", lambda: 0)
        monkeypatch.setattr(device_sampler, "_STOP_WAIT_S", WAIT_S)
        call = nvml_metrics.call

        def called(function: str, *arguments: Any) -> Any:
            self.before.get(function, lambda: None)()
            return call(function, *arguments)

        monkeypatch.setattr(nvml_metrics, "call", called)

    def takes(self, function: str, milliseconds: float) -> None:
        """From now on that call of the driver takes so long."""

        def pass_by() -> None:
            self.clock.now_ns += round(milliseconds * 1e6)

        self.before[function] = pass_by

    def sampler(self, hz: float = 40.0, devices: list[str | int] | None = None) -> DeviceSampler:
        """A sampler that has not started."""
        made = DeviceSampler(devices, hz)
        turns = self._turns[id(made)] = Turns(self.clock)
        made._stop = turns  # type: ignore[assignment]
        return made

    def read(self, sampler: DeviceSampler, times: int = 1) -> None:
        """Start it, or wake it, until it has read its devices so many times more, or has ended by itself."""
        turns = self._turns[id(sampler)]
        for _ in range(times):
            if sampler._thread is None:
                sampler.start()
            else:
                turns.wake()
            if sampler._thread is None or not turns.reached(sampler._thread):
                return

    def sampled(self, times: int = 3, hz: float = 40.0, devices: list[str | int] | None = None) -> ReadingLog:
        """What a sampler gives that has read its devices so many times, and once more at its end."""
        sampler = self.sampler(hz, devices)
        self.read(sampler, times)
        return sampler.stop()


def ticks_in(seconds: float, hz: float) -> int:
    """How many readings begin in that time, the first at its beginning."""
    return math.floor(seconds * hz) + 1
