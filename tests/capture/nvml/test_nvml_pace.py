"""The timetable, the back-off and the bound on rows, on made-up clocks."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.capture.nvml import nvml_pace
from gpuprof.capture.nvml.nvml_pace import NS, Pace, interpreter_wait_ns
from gpuprof.capture.nvml.nvml_rows import NvmlRows
from gpuprof.model.readings import DeviceReading

MS = 1_000_000


def sample(tick: int, slow: bool = False) -> DeviceReading:
    return DeviceReading(device=0, time_ns=tick, monotonic_ns=tick, call_ns=1, temperature_c=40.0 if slow else None)


@given(hz=st.floats(0.1, 100), late_ns=st.integers(0, 10 * NS))
def test_the_next_tick_lies_ahead_and_on_the_timetable(hz: float, late_ns: int) -> None:
    pace = Pace(hz, now_ns=123)
    wait = pace.wait_ns(123 + late_ns)
    assert 0 < wait <= NS / hz + 1
    ticks = (late_ns + wait) * hz / NS
    assert abs(ticks - round(ticks)) < 1e-5


def test_a_cost_above_one_percent_halves_the_rate_as_often_as_needed() -> None:
    pace = Pace(10.0, now_ns=0)
    pace.settle(NS, driver_ns=35 * MS)  # 3.5 %: two halvings bring it under 1 %
    assert (pace.hz, pace.halvings) == (2.5, 2)
    pace.settle(2 * NS, driver_ns=9 * MS)
    assert (pace.hz, pace.halvings) == (2.5, 2)
    assert pace.cost_share == 0.022


@pytest.mark.parametrize(("slept_us", "wait_us"), [(150, 0), (3_100, 3_000), (90_000, 10_000)])
def test_the_wait_for_the_interpreter_is_what_a_short_sleep_lasts_longer(
    monkeypatch: pytest.MonkeyPatch, slept_us: int, wait_us: int
) -> None:
    """Below half a millisecond it cannot be told from the timer; two switch intervals are the most it can be."""
    readings = iter((0, slept_us * 1000))
    clock = SimpleNamespace(perf_counter_ns=lambda: next(readings), sleep=lambda seconds: None)
    monkeypatch.setattr(nvml_pace, "time", clock)
    monkeypatch.setattr(nvml_pace.sys, "getswitchinterval", lambda: 0.005)
    assert interpreter_wait_ns() == wait_us * 1000


def test_the_rate_never_falls_under_its_floor() -> None:
    pace = Pace(10.0, now_ns=0)
    pace.settle(NS, driver_ns=NS)
    assert pace.hz == 0.625
    assert Pace.slowest_hz <= pace.hz


def test_processor_time_counts_where_it_is_more() -> None:
    pace = Pace(10.0, now_ns=0)
    pace.worked(15 * MS, wait_ns=0)
    pace.worked(5 * MS, wait_ns=5 * MS)
    assert pace.wait_per_call_ns == 5 * MS
    pace.settle(NS, driver_ns=1 * MS)
    assert pace.cost_share == 0.02
    assert pace.hz == 5
    assert pace.wait_per_call_ns == 0


def test_the_reached_rate_counts_the_time_to_the_end() -> None:
    pace = Pace(10.0, now_ns=0)
    assert pace.hz_reached is None
    for tick in range(5):
        pace.tick(tick * 100 * MS)
    assert pace.hz_reached == 10
    pace.close(800 * MS)
    assert pace.hz_reached == 5


def test_a_long_run_keeps_its_whole_length_and_its_slow_metrics() -> None:
    rows, tick, slow_every = NvmlRows(limit=100), 0, 10
    for written in range(1000):
        rows.add(tick, sample(written, slow=tick % slow_every == 0))
        tick += 1
        if rows.thin():
            tick = (tick + 1) // 2
            slow_every = max(1, slow_every // 2)
    kept = rows.readings()
    assert len(kept) <= 100
    assert rows.thinned >= 3
    assert kept[0].time_ns == 0 and kept[-1].time_ns > 900
    assert all(a.time_ns < b.time_ns for a, b in pairwise(kept))
    assert sum(row.temperature_c is not None for row in kept) >= 5
