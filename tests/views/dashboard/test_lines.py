"""The Lines tab of the dashboard."""

from gpuprof.model.context import Cell, FollowedLines, SourceFile
from gpuprof.report import Report
from gpuprof.views.dashboard import tabs
from tests.support.reports import NASTY, device_report
from tests.support.trace_builder import TraceBuilder
from tests.whatif.test_line_profile import stepping


def test_lines_have_their_times_and_code_stays_text():
    builder = TraceBuilder().line(2, 0).operator("aten::mm", 0, 100).kernel("gemm", 50, 80, launch_at_us=10)
    lines = FollowedLines(how="calls", start_ns=0, end_ns=100_000, files=(SourceFile(filename="cell.py"),))
    builder.context(cell=Cell(source=f"# {NASTY}\ny = x @ x"), lines=lines)
    report = Report.of(builder.build())

    assert tabs.has_lines(report)
    page = tabs.lines(report).html.replace("\u00a0", " ")
    assert "<pre>y = x @ x</pre>" in page and "80.0 µs" in page and "100 %" in page
    assert NASTY not in page and "Before Python 3.12" in page


def test_gains_stand_beside_their_lines():
    page = tabs.lines(Report.of(stepping(prepare_us=400, kernel_us=1000))).html.replace("\u00a0", " ")
    assert 'colspan="2">saved if halved</th>' in page
    assert "<td>hot and hidden</td>" in page and "<td>hot and critical</td>" in page
    assert '<td class="figure">5.00 ms' in page


def test_without_lines_there_is_no_such_tab():
    assert not tabs.has_lines(device_report())
