"""The one line below a cell that was not profiled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.schema import DEVICE_READINGS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.report.hint import hint
from tests.analyses.accounts.cells import cell, line
from tests.analyses.accounts.test_sample_phases import BACKWARD, CALL, LOADER, libraries
from tests.support.trace_builder import TraceBuilder

__all__ = ["libraries"]  # a fixture
FRAME = ("/lib/pandas/core/frame.py", "DataFrame.iterrows", 3)


def sampled(*shares: tuple[float, tuple[tuple[str, str, int], ...]], gpu: tuple[float, ...] = ()) -> Trace:
    """A cell of 10 s of which each stack takes its share; `gpu`: percents that NVML read."""
    builder, at_us = TraceBuilder(), 0.0
    for share, frames in shares:
        for _ in range(20):
            builder.stack(at_us, share * 500_000, *frames)
            at_us += share * 500_000
    trace = cell(builder)
    if not gpu:
        return trace
    columns = {column.name: [0] * len(gpu) for column in DEVICE_READINGS.columns}
    columns |= {"time_ns": list(range(len(gpu))), "utilisation_percent": list(gpu)}
    kept = {name: np.array(values) for name, values in columns.items()}
    return replace(trace, tables={**trace.tables, "device_readings": Table(DEVICE_READINGS, kept)})


def told(trace: Trace) -> str:
    return hint(trace, Results(trace))


WAIT = (line(4), LOADER)
FORWARD = (line(5), CALL)


def test_a_wait_for_data_is_told_with_its_line() -> None:
    assert told(sampled((0.72, WAIT), (0.28, FORWARD))) == (
        "72 % waiting for data (line 4 of the cell) · `%%gpuprofile` for details"
    )


def test_with_a_gpu_how_busy_it_is() -> None:
    said = told(sampled((0.5, WAIT), (0.5, FORWARD), gpu=(20.0, 26.0, -1.0)))
    assert "50 % waiting for data" in said and "GPU 23 % busy" in said


def test_a_line_that_is_not_training_is_told_with_what_runs_there() -> None:
    said = told(sampled((0.6, (line(9), FRAME)), (0.4, FORWARD)))
    assert said.startswith("60 % in line 9 of the cell, pandas")
    assert "DataFrame.iterrows" in said


@pytest.mark.parametrize(("gpu", "says"), [((95.0,), False), ((30.0,), True), ((), False)])
def test_training_that_takes_the_time_is_no_news_unless_a_gpu_is_idle_meanwhile(
    gpu: tuple[float, ...], says: bool
) -> None:
    assert bool(told(sampled((0.6, FORWARD), (0.4, (line(6), BACKWARD)), gpu=gpu))) is says


def test_a_short_wait_and_a_small_line_are_no_news() -> None:
    assert told(sampled((0.14, WAIT), (0.29, (line(9), FRAME)), (0.57, FORWARD))) == ""


def test_a_gpu_that_is_never_used_is_not_spoken_of() -> None:
    said = told(sampled((0.9, (line(9), FRAME)), (0.1, FORWARD), gpu=(0.0, 0.0)))
    assert said and "GPU" not in said


def test_without_samples_there_is_nothing_to_say() -> None:
    assert told(TraceBuilder().build()) == ""


def test_imports_get_no_line_since_they_happen_once() -> None:
    importing = ("/lib/python3.11/torch/_dynamo/__init__.py", "<module>", 1)
    machinery = ("<frozen importlib._bootstrap>", "_find_and_load", 1)
    assert not told(sampled((0.7, (line(9), machinery, importing)), (0.3, FORWARD)))
