"""What a Trace spans, whose its main thread is, and whether a device was recorded: from tables alone."""

from __future__ import annotations

import pytest

from gpuprof.ingest.assemble import _whole, assemble, device_recorded, main_thread, span
from gpuprof.model.context import CellOutcome, RunContext, Window
from gpuprof.model.kinds import CallKind
from gpuprof.model.trace import empty_tables
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    ("window", "events", "error", "expected"),
    [
        # (cell, recording), events
        (((100, 900), (150, 800)), (200, 300), None, (150, 800)),
        (((100, 900), (50, 950)), (200, 300), None, (100, 900)),
        (((100, 900), (150, 800)), (120, 850), None, (120, 850)),
        (((100, 900), (150, 800)), (200, 300), "ValueError", (150, 300)),
        (((100, 900), (150, 800)), (0, 0), None, (150, 800)),
        (((100, 900), (150, 800)), (0, 0), "ValueError", (150, 150)),
        # a recording that does not meet the cell says nothing
        (((100, 900), (900, 950)), (200, 300), None, (200, 300)),
        (((100, 100), (100, 950)), (200, 300), None, (200, 300)),
    ],
)
def test_the_recorded_part_of_a_cell(
    window: tuple[tuple[int, int], tuple[int, int]],
    events: tuple[int, int],
    error: str | None,
    expected: tuple[int, int],
) -> None:
    (cell_start, cell_end), (start, end) = window
    known = Window(cell_start_ns=cell_start, cell_end_ns=cell_end, start_ns=start, end_ns=end)
    assert _whole(known, RunContext(outcome=CellOutcome(error=error)), *events) == expected


def test_work_is_spanned_and_ranges_only_without_any() -> None:
    builder = TraceBuilder().span("loop", 0, 100).operator("aten::mm", 10, 20).kernel("k", 25, 40)
    assert span(builder.build().tables) == (10_000, 65_000)
    ranges = TraceBuilder().span("loop", 5, 100).frame("main.py(1): f", 2, 50)
    assert span(ranges.build().tables) == (2_000, 105_000)
    assert span(empty_tables()) == (0, 0)


def test_the_main_thread_makes_most_calls_of_the_framework() -> None:
    backward = "autograd::engine::evaluate_function: MmBackward0"
    builder = TraceBuilder().thread("first").operator("aten::mm", 0, 5)
    builder.thread("second").operator("aten::mm", 0, 9).operator("aten::add", 10, 5)
    for at in range(0, 100, 10):
        builder.thread("autograd").operator(backward, at, 9)
    trace = builder.build()
    assert main_thread(trace.tables, trace.names) == 1
    only = TraceBuilder().thread("first").call("cudaLaunchKernel", 0, 1).thread("second").operator(backward, 0, 9)
    trace = only.build()
    assert main_thread(trace.tables, trace.names) == 1
    calls = TraceBuilder().thread("first").call("f", 0, 1).thread("second").call("f", 0, 1).call("f", 5, 1).build()
    assert main_thread(calls.tables, calls.names) == 1
    assert main_thread(empty_tables(), ()) == -1


@pytest.mark.parametrize(
    ("kind", "recorded"),
    [(CallKind.KERNEL, False), (CallKind.GRAPH, False), (CallKind.COPY, False), (CallKind.SYNCHRONIZE, None)],
)
def test_launches_without_events_are_a_device_that_was_not_recorded(kind: CallKind, recorded: bool | None) -> None:
    tables = TraceBuilder().call("f", 0, 5, kind=kind).build().tables
    assert device_recorded(tables) is recorded
    assert device_recorded(TraceBuilder().kernel("k", 0, 5).build().tables) is True


@pytest.mark.parametrize(("late", "first_step", "steps"), [(False, 0, 2), (True, 0, 3), (False, 1, 3)])
def test_a_recording_that_began_between_steps_has_one_more(late: bool, first_step: int, steps: int) -> None:
    """Two optimizer steps, the first of which ends at 300: before it lies a step where the recording began with one."""
    builder = TraceBuilder().operator("aten::mm", 110, 790)
    for at in (200, 500, 800):
        builder.optimizer_step("SGD", at, 100)
    trace = builder.build()
    window = Window(
        cell_start_ns=0, cell_end_ns=1_000_000, start_ns=100_000, end_ns=950_000, started_late=late,
        first_step=first_step,
    )  # fmt: skip
    found = assemble(trace.tables, trace.names, trace.source, context=RunContext(window=window))
    assert len(found.steps) == steps
