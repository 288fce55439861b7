"""What was still open when the profiler stopped ends there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.capture.session.session import Session
from gpuprof.ingest.assemble import assemble
from gpuprof.ingest.cut import cut
from gpuprof.ingest.load import load_captured, load_trace
from gpuprof.model.context import RunContext, Window
from gpuprof.model.trace import Trace
from tests.capture.cells import train
from tests.capture.conftest import new_session
from tests.ingest.kineto_text import operator, span
from tests.support.trace_builder import TraceBuilder

__all__ = ["new_session"]

STEP = "Optimizer.step#SGD.step"


def recorded(stopped: float) -> dict[str, Any]:
    return {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
            "ts": 90, "dur": stopped - 90, "args": {"Op count": 0}}  # fmt: skip


def loaded(folder: Path, *events: dict[str, Any]) -> Trace:
    path = folder / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return load_trace(path)


def ends(trace: Trace, table: str) -> list[int]:
    return (trace.tables[table]["start_ns"] + trace.tables[table]["duration_ns"]).tolist()


def test_open_rows_of_a_file_end_where_its_recording_does(tmp_path: Path) -> None:
    """GIVEN a recording that stopped at 300 µs, and a range that was written as if it lasted 4 s."""
    frame = {"ph": "X", "cat": "python_function", "name": "f", "pid": 10, "tid": 10, "ts": 310, "dur": 5}
    trace = loaded(
        tmp_path,
        operator("aten::mm", 100, 50),
        operator("aten::open", 200, 3_000_000),
        span(STEP, 190, 4_000_000),
        frame,
        frame | {"ts": 180, "dur": 500},
        recorded(300.5),
    )
    assert ends(trace, "operators") == [150_000, 300_500]
    assert ends(trace, "user_ranges") == [300_500]
    assert ends(trace, "frames") == [300_500]
    assert trace.span_end_ns == 300_500


def test_a_file_that_does_not_say_when_it_stopped_is_not_cut(tmp_path: Path) -> None:
    trace = loaded(tmp_path, operator("aten::mm", 100, 50), span(STEP, 190, 4_000_000))
    assert ends(trace, "user_ranges") == [4_000_190_000]


def test_a_moment_before_the_last_operator_is_not_when_it_stopped(tmp_path: Path) -> None:
    trace = loaded(tmp_path, operator("aten::mm", 400, 50), span(STEP, 190, 1_000), recorded(300))
    assert ends(trace, "user_ranges") == [1_190_000]
    built = TraceBuilder().span("loop", 0, 100).build()
    assert cut(built.tables, -1)["user_ranges"]["duration_ns"].tolist() == [100_000]


def test_a_range_that_was_open_when_the_window_ended_does_not_make_the_last_step_longer() -> None:
    """GIVEN three optimizer steps of 10 µs, the last one open in the trace for 3.8 s more."""
    builder = TraceBuilder().optimizer_step("SGD", 100, 10).optimizer_step("SGD", 200, 10)
    built = builder.optimizer_step("SGD", 300, 3_800_000).build()
    window = Window(cell_start_ns=1, cell_end_ns=9_000_000_000, start_ns=1, end_ns=310_000)
    trace = assemble(built.tables, built.names, built.source, context=RunContext(window=window))
    assert trace.steps["duration_ns"].tolist() == [100_000, 100_000]
    assert Results(trace).get(Phases).optimizer.total_ns == 30_000


@pytest.mark.parametrize("stacks", [False, True])
def test_the_last_optimizer_range_of_a_recording_ends_with_it(
    new_session: Callable[..., Session],
    stacks: bool,
) -> None:
    """GIVEN a cell whose recording ends in its middle: with stacks that is inside `Optimizer.step`."""
    train(1)
    session = new_session(steps=5, skip=1, stacks=stacks)
    session.start()
    train(30)
    captured = session.stop()
    assert captured.context.window is not None
    trace = load_captured(captured)
    for table in ("operators", "user_ranges", "frames"):
        assert max(ends(trace, table), default=0) <= captured.context.window.end_ns
    (use,) = Results(trace).get(OptimizerSteps).uses
    assert use.count == 6
