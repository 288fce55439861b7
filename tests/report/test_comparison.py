"""Two runs side by side."""

from __future__ import annotations

import pytest

from gpuprof.model.context import Cell, Window
from gpuprof.report import Comparison, Report, Summary
from tests.support.trace_builder import TraceBuilder


def report(step_us: float, wait_us: float, source: str) -> Summary:
    builder = TraceBuilder().context(cell=Cell(source=source))
    for i in range(6):
        begin = i * step_us
        builder.step(begin, step_us).data_wait(begin, wait_us).operator("aten::empty", begin, 1)
        builder.operator("aten::mm", begin + wait_us, step_us - wait_us)
    return Summary.of(Report.of(builder.build()))


def test_tells_the_ratio_of_the_median_steps_and_what_is_gone():
    # GIVEN a run that waits 60 of 100 ms a step, and its cure
    compared = Comparison(report(100_000, 60_000, "a\nb\n"), report(40_000, 100, "a\nc\n"))
    # THEN the ratio, the finding that is gone and the code between them are told
    assert compared.basis == "median step"
    assert compared.speedup == pytest.approx(2.5)
    assert "input_stall" in compared.gone
    assert compared.new == ()
    assert compared.sentence().startswith("2.50× faster than before (median step 100 ms → 40.0 ms); input stall gone")
    assert "-b" in compared.code_diff
    assert "+c" in compared.code_diff


def test_budget_rows_add_up_to_a_step():
    compared = Comparison(report(100_000, 60_000, ""), report(40_000, 100, ""))
    rows = compared.budget_rows()
    assert sum(old for _, old, _ in rows) == pytest.approx(compared.before_ns)
    assert sum(new for _, _, new in rows) == pytest.approx(compared.after_ns)


def test_budget_rows_leave_out_warm_up_and_what_is_outside_the_steps():
    # GIVEN a first step ten times as long as the others, after a second of preparation
    builder = TraceBuilder().operator("aten::zeros", 0, 1_000_000).step(1_000_000, 100_000)
    builder.operator("aten::mm", 1_000_000, 100_000)
    for i in range(5):
        begin = 1_100_000 + i * 10_000
        builder.step(begin, 10_000).operator("aten::mm", begin, 7_990).operator("aten::add", begin + 9_990, 10)
    run = Summary.of(Report.of(builder.build()))
    # THEN the rows are those of a steady step
    rows = {name: before for name, before, _ in Comparison(run, run).budget_rows()}
    assert rows["operators"] == pytest.approx(8e6)
    assert sum(rows.values()) == pytest.approx(10e6)
    assert "outside_steps" not in rows


def test_a_difference_within_the_noise_is_called_none():
    same = report(100_000, 100, "")
    assert Comparison(same, same).sentence().startswith("No difference beyond the noise")
    assert repr(Comparison(same, same)) == Comparison(same, same).sentence()


def test_slower_is_called_slower():
    assert "2.50× slower" in Comparison(report(40_000, 100, ""), report(100_000, 60_000, "")).sentence()


def scattered(scale: float) -> Summary:
    builder = TraceBuilder()
    begin = 0.0
    for share in (0.2, 1, 0.5, 1.8, 1, 0.3, 1.7, 1):
        length = share * scale
        builder.step(begin, length).operator("aten::mm", begin, length)
        begin += length
    return Summary.of(Report.of(builder.build()))


def test_the_noise_is_that_of_the_medians():
    # GIVEN steps that scatter widely
    before = scattered(10_000)
    # THEN a difference of a tenth may be chance, one of four times is not
    assert Comparison(before, scattered(11_000)).sentence().startswith("No difference")
    assert Comparison(before, scattered(40_000)).sentence().startswith("4.00× slower")


def cell_run(seconds: float, busy_us: float) -> Summary:
    window = Window(cell_start_ns=0, cell_end_ns=round(seconds * 1e9), start_ns=0, end_ns=round(seconds * 1e9))
    return Summary.of(Report.of(TraceBuilder().operator("aten::mm", 0, busy_us).context(window=window).build()))


def test_without_steps_the_whole_cells_are_compared():
    # GIVEN cells of 2 s and 0.1 s whose operators take as long
    compared = Comparison(cell_run(2, 150), cell_run(0.1, 150))
    assert compared.basis == "whole cell"
    assert compared.sentence().startswith("20.0× faster than before (whole cell 2.00 s → 100 ms, one measurement each)")


def test_one_short_measurement_each_decides_nothing():
    assert Comparison(cell_run(0.12, 90), cell_run(0.14, 90)).sentence().startswith("No clear difference")
