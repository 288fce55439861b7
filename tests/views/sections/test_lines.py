"""The Lines tab shows the source with the time of every line."""

from dataclasses import replace

from gpuprof.model.context import Cell, FollowedLines, SourceFile
from gpuprof.report import Report
from gpuprof.rules.base.finding import Where
from gpuprof.views.blocks import Sentence, SourceBlock, TableBlock
from gpuprof.views.dashboard import tabs
from gpuprof.views.html import render_page
from gpuprof.views.sections.lines import SECTION
from tests.support.reports import NASTY, device_report, with_findings
from tests.support.trace_builder import TraceBuilder
from tests.views.dashboard.test_dashboard import html
from tests.whatif.test_line_profile import stepping

CELL = "for x in data:\n    y = f(x)  # <b> & 5 ms\n    y.item()\n# the end"
OTHER = "def f(x):\n    return x @ w"


def report(*, how: str = "monitoring", source: str = CELL) -> Report:
    """Line 2 calls line 2 of In [3], which launches 60 of the 80 µs of device work; line 3 waits."""
    builder = TraceBuilder().line(1, 0).operator("aten::stack", 0, 10)
    builder.line(2, 100).line(2, 110, source_file=1, cell_line=2).operator("aten::mm", 110, 40)
    builder.kernel("gemm", 150, 60, launch_at_us=120).line(3, 200).operator("aten::item", 200, 200)
    builder.copy("d2h", 300, 20, launch_at_us=210).sync(220, 150)
    files = (SourceFile(filename="cell.py"), SourceFile(filename="o", source=OTHER, execution_count=3))
    lines = FollowedLines(how=how, start_ns=0, end_ns=400_000, files=files)
    builder.context(cell=Cell(source=source, execution_count=7), lines=lines).source(kind="recording")
    return Report.of(builder.build())


def blocks(made: Report) -> tuple[list[SourceBlock], list[TableBlock], list[Sentence]]:
    every = SECTION.blocks(made)
    kinds = (SourceBlock, TableBlock, Sentence)
    return tuple([block for block in every if isinstance(block, kind)] for kind in kinds)  # type: ignore[return-value]


def test_every_line_of_the_source_has_its_times():
    (cell, other), (gains, table), (summary, meaning) = blocks(report())
    assert "Device: " in meaning.text and "Python 3.12" not in meaning.text
    assert (cell.caption, other.caption) == ("The cell, In [7]", "In [3]")
    assert [line.text for line in cell.lines] == CELL.splitlines()
    meters = [[meter and (meter.text, meter.share_text) for meter in line.meters] for line in cell.lines]
    assert meters == [
        [("100 µs", "25 %"), None, ("50.0 µs", "12 %")],
        [("10.0 µs", "2.5 %"), None, ("5.00 µs", "1.2 %")],
        [("200 µs", "50 %"), ("20.0 µs", "25 %"), ("30.0 µs", "7.5 %")],
        [None, None, None],
    ]
    host, device, saved = other.lines[1].meters
    assert saved and saved.text == "45.0 µs" and "simulated, grade B" in meaning.text
    assert gains.rows[0][:2] == ("line 3 of the cell, In [7]", "hot and critical")
    assert host and device and (host.text, device.share) == ("90.0 µs", 0.75)
    assert summary.text == ("100 % of 400 µs of host time and 100 % of 80.0 µs of device work can be given to lines.")
    assert [row[0] for row in table.rows][:2] == ["line 2 of In [3]", "line 3 of the cell, In [7]"]


def test_the_page_keeps_code_as_it_is_and_hides_it_when_asked():
    page = render_page(report())
    assert "y = f(x)  # &lt;b&gt; &amp; 5 ms" in page
    hidden = render_page(report(), redact=True)
    assert "y = f(x)" not in hidden and "Source code is left out" in hidden
    assert "line 3 of the cell" in hidden


def test_lines_that_a_finding_names_say_so():
    made = with_findings(report())
    made = replace(made, findings=(replace(made.findings[0], where=Where(lines=(2,))),))
    (cell, _), _, _ = blocks(made)
    assert [line.findings for line in cell.lines] == [(), (1,), (), ()]
    assert "finding 1" in render_page(made)


def test_long_sources_are_shown_around_the_lines_that_ran():
    long = CELL + "\n" * 200
    (cell, _), _, _ = blocks(report(source=long))
    assert [line.number for line in cell.lines] == [1, 2, 3, 4, 5, 6, None]


def test_partial_knowledge_is_called_that():
    _, _, (_, meaning) = blocks(report(how="calls"))
    assert "Before Python 3.12" in meaning.text


def test_without_a_device_no_gain_is_told():
    builder = TraceBuilder().line(1, 0).operator("aten::mm", 0, 400).line(-1, 400)
    (cell,), (table,), (_, meaning) = blocks(Report.of(builder.source(kind="recording").build()))
    assert cell.columns == ("host",) and table.caption == "Lines by cost"
    assert "shorter" not in meaning.text and "save" not in meaning.text


def test_without_trust_no_gain_is_told_but_the_reason():
    """No call is recorded in which the host waits: its gaps may hide waits."""
    builder = TraceBuilder().line(1, 0).operator("aten::mm", 0, 300).kernel("gemm", 50, 60, launch_at_us=20)
    (cell,), (table,), (_, meaning) = blocks(Report.of(builder.source(kind="recording").build()))
    assert cell.columns == ("host", "device") and table.caption == "Lines by cost"
    assert (
        "What a faster line would save cannot be said: no call such as `cudaStreamSynchronize` was recorded"
        in meaning.text
    )


def test_without_lines_there_is_no_such_tab_and_of_a_recording_it_says_why():
    assert not SECTION.known(device_report())
    made = Report.of(TraceBuilder().source(kind="recording").context(options={"no_lines": True}).build())
    assert SECTION.known(made) and blocks(made)[2][0].text == "The run was profiled with --no-lines."


def in_the_dashboard(made: Report) -> str:
    return html(tabs.section(made, SECTION))


def test_in_the_dashboard_lines_have_their_times_and_code_stays_text():
    builder = TraceBuilder().line(2, 0).operator("aten::mm", 0, 100).kernel("gemm", 50, 80, launch_at_us=10)
    lines = FollowedLines(how="calls", start_ns=0, end_ns=100_000, files=(SourceFile(filename="cell.py"),))
    builder.context(cell=Cell(source=f"# {NASTY}\ny = x @ x"), lines=lines)
    page = in_the_dashboard(Report.of(builder.build()))
    assert "<pre>y = x @ x</pre>" in page and "80.0 µs" in page and "100 %" in page
    assert NASTY not in page and "Before Python 3.12" in page


def test_in_the_dashboard_gains_stand_beside_their_lines():
    page = in_the_dashboard(Report.of(stepping(prepare_us=400, kernel_us=1000)))
    assert 'colspan="2">saved if halved</th>' in page
    assert "<td>hot and hidden</td>" in page and "<td>hot and critical</td>" in page
    assert '<td class="figure">5.00 ms' in page
