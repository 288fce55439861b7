"""An iteration without the recording, divided into the kinds of time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.plain_budget import PlainBudget
from gpuprof.model.context import Loader, RunContext, Window
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from tests.support.trace_builder import TraceBuilder

MS = 1_000_000
STEPS = 8


def built(
    builder: TraceBuilder, *, step_ms: float, plain_ms: float, plain: int = 10, waits_ms: tuple[float, float] = (0, 0)
) -> Trace:
    """Eight recorded iterations, then plain ones, with the wait for data of each kind; 3 ms of a plain one are the
    optimizer's."""
    lengths = [step_ms] * STEPS + [plain_ms] * plain
    starts = [int(MS * sum(lengths[:number])) for number in range(len(lengths))]
    columns: dict[str, Any] = {
        "start_ns": starts,
        "duration_ns": [int(each * MS) for each in lengths],
        "optimizer_ns": [3 * MS] * len(lengths),
        "plain": [False] * STEPS + [True] * plain,
    }
    waits = tuple(int(each * MS) for each in [waits_ms[0]] * STEPS + [waits_ms[1]] * plain)
    loaders = (Loader(workers=0, wait_ns=waits, wait_start_ns=tuple(starts)),) if any(waits) else ()
    trace = builder.build()
    window = Window(steps_recorded=STEPS + 1, ended_by="steps")
    context = RunContext(window=window, loaders=loaders, options={"skip": 0})
    return replace(trace, context=context, tables={**trace.tables, "iterations": Table(ITERATIONS, columns)})


def on_the_host() -> Trace:
    """Recorded: 4 ms wait, 8 ms operators, 2 ms Python, 6 ms optimizer. Plain: 2 ms wait, 3 ms optimizer, 5 ms rest."""
    builder = TraceBuilder()
    for number in range(STEPS):
        at = 20_000 * number
        builder.step(at, 20_000).data_wait(at, 4_000).operator("aten::mm", at + 4_000, 8_000)
        builder.optimizer_step("Adam", at + 14_000, 6_000).operator("aten::add", at + 14_000, 6_000)
    return built(builder, step_ms=20, plain_ms=10, waits_ms=(4, 2))


def test_each_part_of_the_host_is_as_long_as_it_is_without_the_recording() -> None:
    found = Results(on_the_host()).get(PlainBudget)
    assert found.total_ns == 10 * MS
    assert found.shares["input_wait"] == pytest.approx(0.2)
    assert found.shares["operators"] == pytest.approx(0.3 + 0.5 * 8 / 10)
    assert found.shares["host_other"] == pytest.approx(0.5 * 2 / 10)
    assert sum(found.shares.values()) == pytest.approx(1.0)


def test_the_headline_and_the_json_speak_of_it() -> None:
    report = Report.of(on_the_host())
    headline = report.verdict.headline.replace("\u00a0", " ")
    assert "Of an average iteration’s 10.0 ms without the recording" in headline
    assert "the main thread spends 70 % in operators" in headline
    assert "20 % waiting for the DataLoader" in headline
    from gpuprof.report.contract import to_dict

    told = to_dict(report)["plain_iteration"]
    assert told["ms"] == 10.0 and told["error_share"] == 0.0
    assert {each["category"]: each["share"] for each in told["shares"]}["input_wait"] == pytest.approx(0.2)


def test_device_work_keeps_its_length_and_the_gaps_take_the_rest() -> None:
    # GIVEN recorded steps of 20 ms with 8 ms of kernels, the rest of the time launching the next; plain ones of 10 ms
    builder = TraceBuilder()
    for number in range(STEPS):
        at = 20_000 * number
        builder.step(at, 20_000).kernel("gemm", at + 1_000, 8_000, launch_at_us=at)
    found = Results(built(builder, step_ms=20, plain_ms=10)).get(PlainBudget)
    assert found.shares["compute"] == pytest.approx(0.8)
    assert sum(found.shares.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("plain", [0, 4])
def test_without_enough_plain_iterations_nothing_is_known(plain: int) -> None:
    builder = TraceBuilder()
    for number in range(STEPS):
        builder.step(20_000 * number, 20_000).operator("aten::mm", 20_000 * number, 20_000)
    found = Results(built(builder, step_ms=20, plain_ms=10, plain=plain)).get(PlainBudget)
    assert found.total_ns is None and not found.shares


def test_without_recorded_steps_nothing_is_known() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 20_000)
    assert Results(built(builder, step_ms=20, plain_ms=10)).get(PlainBudget).total_ns is None


@given(
    wait=st.integers(0, 9_000),
    work=st.integers(1, 9_000),
    kernel=st.integers(0, 20_000),
    plain_ms=st.floats(0.1, 50.0),
    plain_wait_ms=st.floats(0.0, 50.0),
)
def test_the_shares_are_one_together(wait: int, work: int, kernel: int, plain_ms: float, plain_wait_ms: float) -> None:
    builder = TraceBuilder()
    for number in range(STEPS):
        at = 20_000 * number
        builder.step(at, 20_000).operator("aten::mm", at + wait, work)
        if wait:
            builder.data_wait(at, wait)
        if kernel:
            builder.kernel("gemm", at, kernel, launch_at_us=at)
    trace = built(builder, step_ms=20, plain_ms=plain_ms, waits_ms=(wait / 1000, plain_wait_ms))
    found = Results(trace).get(PlainBudget)
    assert sum(found.shares.values()) == pytest.approx(1.0)
    assert all(0 <= share <= 1 + 1e-9 for share in found.shares.values())
