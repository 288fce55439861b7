"""Where the device is the bottleneck, the verdict says which lines it works for."""

from __future__ import annotations

import json

import jsonschema
import pytest

from gpuprof.analyses.device.device_spots import DeviceSpots
from gpuprof.model.context import FollowedLines, SourceFile
from gpuprof.report import Report
from gpuprof.report.contract import json_schema, to_dict
from gpuprof.report.device_shares import busy_share, device_bound, kernel, unexplained_spot
from gpuprof.rules.base.finding import Finding, Saving, Severity, Where
from gpuprof.views.text import render_text
from tests.support.trace_builder import CELL_FILE, TraceBuilder

FOLLOWED = FollowedLines(
    how="monitoring",
    start_ns=0,
    end_ns=10_000_000,
    files=(SourceFile(filename=CELL_FILE), SourceFile(filename="other", execution_count=3)),
)
KERNEL = "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float>(float*, int)"


def run(*, busy_us: int = 800) -> Report:
    """A millisecond in which the device computes for so long, three quarters of it for line 8 of another cell."""
    builder = TraceBuilder().device().line(3, 0).line(8, 2, source_file=1, cell_line=3).line(4, 100)
    builder.operator("aten::cross_entropy_loss", 5, 20).kernel(KERNEL, 200, busy_us * 3 // 4, launch_at_us=8)
    builder.operator("aten::relu", 105, 20).kernel("relu", 200 + busy_us * 3 // 4, busy_us // 4, launch_at_us=110)
    builder.operator("aten::item", 900, 100)
    return Report.of(builder.context(lines=FOLLOWED).build())


def finding(*lines: int, share: float = 0.0) -> Finding:
    saving = Saving(0, 1, 1, share, "B", "of the recorded time") if share else None
    return Finding("host_cpu_bound", Severity.HIGH, "A", "B.", {}, "C.", where=Where(lines=lines), saving=saving)


def test_the_verdict_of_a_device_that_works_names_the_lines_it_works_for() -> None:
    said = run().verdict.advice
    assert "the largest shares of the device’s work: 75 % line 8 of In [3] (called from line 3 of the cell, " in said
    assert "aten::cross_entropy_loss, kernel cunn_SoftMaxBackward); 25 % line 4 of the cell (aten::relu, " in said


def test_a_device_that_mostly_waits_leaves_the_host_first() -> None:
    report = run(busy_us=300)
    assert not device_bound(report.results) and busy_share(report.results) == pytest.approx(0.3, abs=0.04)
    assert "device’s work" not in report.verdict.advice
    # and the table is there all the same
    assert "Where the device’s work comes from" in render_text(report)


def test_a_finding_on_a_line_explains_it() -> None:
    results = run().results
    first, second = results.trace, unexplained_spot(results, ())
    assert first is not None and second is not None and second.line == 8
    for lines in ((8,), (3,)):
        left = unexplained_spot(results, (finding(*lines),))
        assert left is not None and left.line == 4
    assert unexplained_spot(results, (finding(8), finding(4))) is None


def test_the_object_and_the_text_have_them() -> None:
    report = run()
    told = to_dict(report)
    jsonschema.validate(told, json.loads(json_schema()))
    first = told["device_spots"][0]
    assert first["share"] == pytest.approx(0.75) and (first["cell"], first["line"], first["cell_line"]) == (3, 8, 3)
    assert first["operator"] == "aten::cross_entropy_loss" and first["profiled"] is False
    assert "75 %  line 8 of In [3] (called from line 3 of the cell): aten::cross_entropy_loss" in render_text(report)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (KERNEL, "cunn_SoftMaxBackward"),
        ("fmha_cutlassB_f32_aligned_64x64_k64_sm80(Params)", "fmha_cutlassB_f32_aligned_64x64_k64_sm80"),
        ("void cutlass::Kernel2<cutlass_75>(int)", "Kernel2 (cutlass_75)"),
    ],
)
def test_a_kernel_is_named_without_its_types(name: str, told: str) -> None:
    builder = TraceBuilder().device().line(1, 0).operator("aten::mm", 0, 5).kernel(name, 10, 50, launch_at_us=1)
    (spot,) = Report.of(builder.context(lines=FOLLOWED).build()).results.get(DeviceSpots).spots
    assert kernel(spot) == told
