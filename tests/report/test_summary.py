"""The few figures of a run that are kept beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuprof.model.context import Cell
from gpuprof.report import Comparison, Report, Summary
from gpuprof.report.summary import FILE, read_summary, write_summary
from tests.support.trace_builder import TraceBuilder


def summary(number: int | None, compute_us: float = 4_000) -> Summary:
    builder = TraceBuilder().context(cell=Cell(source="a"), run_number=number)
    for i in range(6):
        begin = i * (6_000 + compute_us)
        builder.step(begin, 6_000 + compute_us).operator("aten::empty", begin, 1).data_wait(begin, 6_000)
        builder.operator("aten::mm", begin + 6_000, compute_us)
    return Summary.of(Report.of(builder.build()))


def test_it_comes_back_from_disk_as_it_was(tmp_path: Path) -> None:
    kept = summary(3)
    write_summary(tmp_path, kept)
    assert read_summary(tmp_path) == kept
    assert sum(kept.step_budget_ns.values()) == pytest.approx(10e6)
    assert kept.findings == ("input_stall",)


@pytest.mark.parametrize("text", ["", "{}", '{"format": 99, "title": "a", "path": "b"}', '{"format": "x"}'])
def test_what_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    assert read_summary(tmp_path) is None


def test_a_numbered_run_is_called_by_its_number() -> None:
    faster = Comparison(summary(3, 10_000), summary(4)).sentence()
    assert faster.startswith("1.60× faster than run 3 (median step 16.0 ms → 10.0 ms)")
    assert Comparison(summary(3), summary(4)).sentence().startswith("No difference from run 3 beyond the noise")
    assert "than before" in Comparison(summary(None, 10_000), summary(None)).sentence()
