"""The trust line tells what was lost and what it cost."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.model.context import CellOutcome, Cost, RunContext, Window
from gpuprof.model.schema import STEPS
from gpuprof.model.table import Table
from gpuprof.report import Report
from tests.analyses.accounts.cells import cell, line
from tests.rules.cases.loading.workers_oversubscribed import crowd
from tests.support.trace_builder import CELL_FILE, TraceBuilder
from tests.whatif.programs import run


def test_counts_launches_without_a_kernel():
    # GIVEN two launches, one kernel
    trace = (
        TraceBuilder().kernel("sgemm", 10, 20, launch_at_us=5).call("cudaLaunchKernel", 40, 5, correlation=99).build()
    )
    trust = Report.of(trace).trust
    assert trust.launches_with_kernel_share == 0.5
    assert "1 of 2 launches matched to device work." in trust.notes


def test_sees_a_kernel_before_its_launch():
    trust = Report.of(TraceBuilder().kernel("sgemm", 10, 20, launch_at_us=500).build()).trust
    assert trust.clock_ok is False


def test_says_what_the_window_covers():
    window = Window(
        cell_end_ns=10_000_000_000,
        end_ns=1_000_000_000,
        steps_seen=300,
        first_step=2,
        steps_recorded=20,
        ended_by="steps",
    )
    trace = TraceBuilder().operator("aten::mm", 0, 9).context(window=window, cost=Cost(start_ns=1, stop_ns=2)).build()
    notes = " ".join(Report.of(trace).trust.notes)
    assert "Recorded 1.00 s of the cell's 10.0 s, 20 of 300 steps (steps 3 to 22)" in notes
    assert "gpuprof itself took" in notes
    builder = TraceBuilder().operator("aten::mm", 0, 9).stack(0, 9_500_000, (CELL_FILE, "<module>", 1))
    notes = " ".join(Report.of(builder.context(window=window).build()).trust.notes)
    assert "20 of 300 steps" in notes and "Shares of the cell are of the 9.50 s that were sampled." in notes


def test_counts_a_cell_that_raised_to_its_last_event_not_to_the_printed_traceback():
    window = Window(cell_end_ns=449_000_000, end_ns=452_000_000, steps_seen=30, steps_recorded=30, ended_by="error")
    raised = {"window": window, "outcome": CellOutcome(error="RuntimeError")}
    report = Report.of(TraceBuilder().operator("aten::mm", 0, 205_000).context(**raised).build())
    assert "Recorded the cell until it raised: 205 ms, 30 steps." in report.trust.notes


def test_a_cell_that_raised_at_once_was_not_recorded_while_its_traceback_was_printed():
    window = Window(cell_end_ns=176_000_000, end_ns=176_000_000, ended_by="error")
    report = Report.of(TraceBuilder().context(window=window, outcome=CellOutcome(error="NameError")).build())
    assert str(report.verdict) == "The cell raised NameError before any torch operator ran. There is nothing to judge."
    assert "The cell raised before anything of torch's was recorded." in report.trust.notes


def test_a_lost_recording_is_not_said_to_cover_the_cell():
    window = Window(cell_end_ns=176_000_000, end_ns=176_000_000)
    for error in (None, "NameError"):
        lost = (
            TraceBuilder().source(kernels_saved=False).context(window=window, outcome=CellOutcome(error=error)).build()
        )
        report = Report.of(lost)
        assert "Nothing can be judged." in str(report.verdict) and "before any" not in str(report.verdict)
        assert not [note for note in report.trust.notes if note.startswith("Recorded")]


def test_says_why_nothing_was_sampled():
    trace = TraceBuilder().operator("aten::mm", 0, 9).context(sampling={"unavailable": "no NVIDIA driver."}).build()
    assert "No device sampling: no NVIDIA driver." in Report.of(trace).trust.notes


def test_says_how_long_the_main_thread_had_no_core():
    def notes(percent: float) -> str:
        return " ".join(Report.of(crowd(None, workers=0, main_wait=percent)).trust.notes)

    assert "had no core for 25 % of the steps' time" in notes(25.0)
    assert "had no core" not in notes(9.9)
    assert "had no core" not in notes(float("nan"))


def test_says_how_well_the_run_can_be_re_timed():
    # GIVEN a run whose every wait is recorded
    report = Report.of(run([("work", 100), ("kernel", 7, 300), ("sync_all",)] * 10))
    assert report.trust.replay_error is not None and report.trust.replay_error < 0.02
    assert any(note.startswith("Simulated without any change, the run is") for note in report.trust.notes)


def test_says_why_nothing_could_be_simulated():
    # GIVEN a run in which no wait was recorded at all
    notes = Report.of(run([("work", 100), ("kernel", 7, 300)] * 10 + [("work", 1)])).trust.notes
    assert any(
        "No saving could be found by simulating this run" in note and "no call such as" in note for note in notes
    )


def test_the_replay_error_of_a_run_without_device_is_unknown():
    report = Report.of(TraceBuilder().operator("aten::mm", 0, 9).build())
    assert report.trust.replay_error is None
    assert not any("e-timed" in note for note in report.trust.notes)


def test_tells_how_much_the_recording_slowed_its_steps():
    window = Window(steps_seen=99, steps_recorded=20, ended_by="steps", recorded_step_ns=11.3e6, plain_step_ns=7.6e6)
    trace = TraceBuilder().operator("aten::mm", 0, 9).context(window=window).build()
    notes = " ".join(Report.of(trace).trust.notes)
    assert "made its steps 1.49× as long (median 11.3 ms against 7.60 ms without it)" in notes


def test_says_where_its_own_slowdown_is_unknown():
    window = Window(steps_seen=9, steps_recorded=9, recorded_step_ns=11.3e6)
    trace = TraceBuilder().operator("aten::mm", 0, 9).context(window=window).build()
    assert any("slowed its steps is not known" in note for note in Report.of(trace).trust.notes)


def test_says_whose_savings_they_are_where_the_slowdown_is_known():
    trace = run([("work", 300), ("kernel", 7, 100), ("sync_all",)] * 10)
    rows = {"start_ns": [trace.span_start_ns], "duration_ns": [trace.span_ns], "number": [0]}
    slow = Window(steps_recorded=10, recorded_step_ns=4e6, plain_step_ns=3e6)
    steps = {**trace.tables, "steps": Table(STEPS, rows)}
    known = replace(trace, tables=steps, context=RunContext(window=slow))
    notes = Report.of(known).trust.notes
    assert any("of the run without the recording" in note and "counts 0.6" in note for note in notes)
    notes = Report.of(trace).trust.notes
    assert any(note.startswith("Recording slows the host") for note in notes)


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        (4, "4 of 300 steps (steps 1 to 4, 3 of them whole)"),
        (8, "4 of 300 steps of the optimizer that steps most (steps 1 to 4)"),
    ],
)
def test_how_many_of_the_recorded_steps_are_counted(ends: int, words: str) -> None:
    """The report counts from the end of one step to that of the next, and of several optimizers those of each."""
    builder = TraceBuilder()
    for number in range(ends):
        builder.optimizer_step("SGD", 100 * number, 20)
    window = Window(cell_end_ns=10**10, end_ns=10**9, steps_seen=300, steps_recorded=4, ended_by="steps")
    for number in range(ends - 1):
        builder.step(100 * number + 20, 100)
    trace = replace(builder.build(), context=RunContext(window=window), steps_from="Optimizer")
    assert words in " ".join(Report.of(trace).trust.notes)


def test_how_much_of_the_cell_was_examined_is_a_note() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 25).stack(0, 100, line(2))
    trace = cell(builder)
    window = Window(cell_end_ns=100_000, end_ns=25_000, ended_by="steps")
    known = replace(trace, context=msgspec.structs.replace(trace.context, window=window))
    note = (
        "Of the cell, 25 % was recorded or is like what was, nothing was checked for needless work, and 100 % has a "
        "line or a phase."
    )
    assert note in Report.of(known).trust.notes
    assert note not in Report.of(trace).trust.notes
