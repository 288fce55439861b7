from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpuprof.capture.process.core_times import thread_times
from gpuprof.capture.process.host_sampler import HostSampler


def test_times_memory_and_load() -> None:
    ticks: list[int] = []
    sampler = HostSampler(ticks.append)
    before = time.time_ns()
    sampler.start()
    end = time.monotonic() + 0.6
    while time.monotonic() < end:
        pass
    table = sampler.stop()
    assert 2 <= len(table) <= 8
    assert len(ticks) == len(table) - 1
    assert before <= table["time_ns"][0]
    assert np.all(np.diff(table["time_ns"]) > 0)
    assert table["resident_bytes"][-1] == pytest.approx(psutil.Process().memory_info().rss, rel=0.2)
    assert table["cpu_percent"].max() > 0
    if thread_times(os.getpid(), os.getpid()) is not None:
        # a loop that never sleeps runs or waits for a core, however loaded the machine is
        assert np.max(table["main_thread_percent"] + table["main_core_wait_percent"]) > 60


def test_children_are_counted() -> None:
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        sampler = HostSampler()
        sampler.start()
        time.sleep(0.6)
        table = sampler.stop()
    finally:
        child.kill()
        child.wait()
    assert table["children_cpu_percent"].max() > 0
    assert table["children_resident_bytes"].max() > 1_000_000


def test_a_very_short_run_has_one_reading() -> None:
    sampler = HostSampler()
    sampler.start()
    assert len(sampler.stop()) == 1


def test_a_failure_is_told_and_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise ZeroDivisionError("tick")

    sampler = HostSampler(fail)
    sampler.start()
    time.sleep(0.3)
    assert len(sampler.stop()) == 0
    assert sampler.failure is not None and "ZeroDivisionError" in sampler.failure


def test_a_long_calm_cell_is_read_less_often() -> None:
    sampler = HostSampler()
    assert sampler._period_s(600.0) == 0.1
    sampler.calm = True
    assert [sampler._period_s(elapsed) for elapsed in (1.0, 10.0, 600.0)] == [0.1, 0.2, 0.25]


def test_no_descriptor_is_left_open() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    sampler = HostSampler()
    sampler.start()
    time.sleep(0.3)
    sampler.stop()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
