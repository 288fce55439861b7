"""Who waits for a core."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.cpu_contention import CpuContention
from tests.rules.cases.loading.workers_oversubscribed import crowd, measured
from tests.support.trace_builder import TraceBuilder


def test_workers_by_their_timed_batches() -> None:
    waits = Results(crowd(measured(threads=2.0, wait_ratio=0.25))).get(CpuContention)
    assert waits.worker_threads == pytest.approx(2.0)
    assert waits.worker_wait_ratio == pytest.approx(0.25)
    assert not waits.starved


def test_readings_count_by_their_time_in_the_steps() -> None:
    """GIVEN a step from 150 to 200 ms WHEN a reading is about 100 to 200 ms, another about 200 to 300 ms."""
    builder = TraceBuilder().step(150_000, 50_000).operator("aten::mm", 0, 300_000)
    for at, percent in ((100_000, 1.0), (200_000, 40.0), (300_000, 80.0)):
        builder.host_sample(at, main_core_wait_percent=percent)
    waits = Results(builder.build()).get(CpuContention)
    assert (waits.main_wait_share, waits.readings) == (pytest.approx(0.4), 1)
    assert waits.process_cores is None


def test_nothing_is_known_of_a_trace_from_elsewhere() -> None:
    assert Results(TraceBuilder().operator("aten::mm", 0, 10).build()).get(CpuContention) == CpuContention()


def test_what_other_programs_use_is_told_by_some_readings_alone() -> None:
    """GIVEN readings at 0, 100, 200, 300 and 400 ms of which those at 0, 200 and 400 tell it."""
    builder = TraceBuilder().operator("aten::mm", 0, 400_000)
    for at, known in ((0, {}), (100_000, None), (200_000, {"other_cpu_percent": 30.0}), (300_000, None)):
        builder.host_sample(at, **({"other_cpu_percent": 0.0} if known == {} else known or {}))
    builder.host_sample(400_000, other_cpu_percent=50.0)
    assert Results(builder.build()).get(CpuContention).other_cores == pytest.approx(0.4)
