"""The verdict says in words what the budget says in figures."""

from __future__ import annotations

from gpuprof.model.context import CellOutcome
from gpuprof.report import Report
from gpuprof.rules.registry import all_rules
from tests.analyses.accounts.cells import cell, line
from tests.support.trace_builder import TraceBuilder


def test_names_the_biggest_wait_of_a_device_run():
    # GIVEN 100 µs of which the device computes 40 and waits 60 for the DataLoader
    trace = (
        TraceBuilder()
        .step(0, 100)
        .data_wait(0, 60)
        .operator("aten::mm", 60, 40)
        .operator("aten::empty", 0, 1)
        .kernel("sgemm", 60, 40, launch_at_us=59, launch_for_us=1)
        .build()
    )
    # WHEN it is judged, THEN both figures are in the sentence
    headline = Report.of(trace).verdict.headline
    assert "computes for 40 %" in headline
    assert "waiting for data" in headline


def test_copies_alone_are_not_called_computing():
    headline = Report.of(
        TraceBuilder().copy("h2d", 10, 90, host_memory="pinned", launch_at_us=5).build()
    ).verdict.headline
    assert headline.startswith("The device runs no kernel")
    assert "copying with nothing else running" in headline


def test_says_that_no_gpu_was_there():
    headline = Report.of(TraceBuilder().operator("aten::mm", 0, 100).build()).verdict.headline
    assert headline.startswith("No GPU in this run")


def test_says_that_the_device_was_not_captured():
    # GIVEN launches without any device event
    trace = TraceBuilder().operator("aten::mm", 0, 100).call("cudaLaunchKernel", 5, 5, correlation=1).build()
    report = Report.of(trace)
    assert report.verdict.headline.startswith("Device activity was not captured: kernels were launched")
    assert report.verdict.advice == "Run `gpuprof doctor`: it shows why."


def test_says_that_nothing_was_recorded():
    assert Report.of(TraceBuilder().build()).verdict.headline == "Nothing was recorded in this run."


def test_a_cell_that_raised_is_marked():
    trace = TraceBuilder().operator("aten::mm", 0, 100).context(outcome=CellOutcome(error="ValueError")).build()
    report = Report.of(trace)
    assert report.error == "ValueError"
    assert "The cell raised ValueError" in report.verdict.advice


def test_a_clean_run_gets_no_filler():
    # GIVEN a device that is busy all the time with large kernels
    builder = TraceBuilder()
    for i in range(5):
        builder.step(i * 1000, 1000).operator("aten::mm", i * 1000, 1000)
        builder.kernel("ampere_bf16_s16816gemm", i * 1000 + 20, 980, launch_at_us=i * 1000 + 5)
    report = Report.of(builder.build())
    assert report.findings == ()
    asked, rules = len(report.abstained), len(all_rules())
    assert report.verdict.advice == (
        "No rule applies. The largest shares of the device’s work: 100 % aten::mm (kernel ampere_bf16_s16816gemm). "
        f"{asked} of {rules} rules need what this trace does not hold."
    )


def test_a_large_loss_without_a_rule_is_not_called_clean():
    # GIVEN a device that waits 90 of 100 ms for one long operator of the host
    trace = TraceBuilder().operator("aten::mm", 0, 100_000).kernel("sgemm", 90_000, 10_000, launch_at_us=89_990).build()
    advice = Report.of(trace).verdict.advice
    assert advice.startswith(
        "No rule applies. The largest shares of the time: 90 % GPU idle while the CPU was in aten::mm; "
        "10 % aten::mm (forward)."
    )


def test_nothing_is_said_of_threads_that_are_not_recorded():
    # GIVEN a cell whose own thread ran nothing of torch's
    trace = TraceBuilder().span("work", 0, 9).trace(span_start_ns=0, span_end_ns=30_000_000).build()
    verdict = str(Report.of(trace).verdict)
    assert verdict.startswith("No torch operator ran on the cell’s own thread in the recorded 30.0 ms.")


def test_a_minor_point_is_not_called_unknown():
    # GIVEN steps of which nine tenths are Python, and each of which reads a value
    builder = TraceBuilder()
    for i in range(10):
        builder.step(i * 1000, 1000).operator("aten::mm", i * 1000, 90)
        builder.operator("aten::item", i * 1000 + 900, 8).operator("aten::_local_scalar_dense", i * 1000 + 901, 6)
    report = Report.of(builder.build())
    assert [finding.severity.name for finding in report.findings] == ["LOW"]
    assert report.verdict.advice == (
        "Only 1 minor finding, below. The largest shares of the time: 90 % Python between operators; "
        "9.1 % aten::mm (forward)."
    )


def test_speaks_of_the_steps_where_much_lies_outside_them():
    # GIVEN half a second of preparation before steps that wait for data half of their time
    builder = TraceBuilder().operator("aten::zeros", 0, 500_000)
    for i in range(5):
        begin = 500_000 + i * 100_000
        builder.step(begin, 100_000).data_wait(begin, 50_000)
        builder.operator("aten::mm", begin + 50_000, 50_000)
    headline = Report.of(builder.build()).verdict.headline
    assert "Of the 5 steps’ 500 ms" in headline
    assert "50 % waiting for the DataLoader" in headline
    assert "50 % of the recording is time outside the steps" in headline


def test_a_run_without_a_recording_is_not_judged_but_explained():
    trace = TraceBuilder().context(notes=("another profiler ran inside the cell",)).build()
    verdict = Report.of(trace).verdict
    assert verdict.headline == "Nothing was recorded in this run."
    assert verdict.advice == "Nothing can be judged. Another profiler ran inside the cell."


def test_time_outside_the_steps_is_said_by_its_phase():
    # GIVEN a training cell that is set up for 40 of its 100 ms and evaluates for 20
    builder = TraceBuilder().operator("aten::mm", 40_000, 40_000)
    for i in range(4):
        builder.step(40_000 + i * 10_000, 10_000)
    builder.stack(0, 40_000, line(1)).stack(40_000, 40_000, line(5)).stack(80_000, 20_000, line(9, "evaluate"))
    headline = Report.of(cell(builder, ends_ms=(40, 50, 60, 70, 80))).verdict.headline
    # THEN every share is one of the cell, those of the steps, too
    assert headline == (
        "No GPU in this run. The whole cell (100 ms) is 40 % set-up, 20 % evaluation and 40 % training "
        "(40 % in operators)."
    )
