"""The sentence on a line whose time misleads."""

from gpuprof.analyses.basics.result import Results
from gpuprof.report import Report
from gpuprof.views.line_gains import hidden_sentence
from gpuprof.views.text import render_text
from tests.support.trace_builder import TraceBuilder
from tests.whatif.test_line_profile import stepping


def test_a_line_that_only_waits_is_named():
    told = hidden_sentence(Results(stepping(prepare_us=400, kernel_us=1000)))
    assert told.startswith("Line 4 of ") and "takes 52 % of the run on the host" in told
    assert told.endswith("halving that would save nothing: there the host only waits for the device.")


def test_kernels_that_the_host_hides_are_named():
    told = hidden_sentence(Results(stepping(prepare_us=1000, kernel_us=400)))
    assert told.startswith("Line 3 of ") and "takes 38 % of the run on the device" in told
    assert "save only 222 µs (2.1 %): the run waits for something else, as a rule for the host" in told


def test_nothing_is_said_where_the_costliest_lines_are_what_the_run_waits_for():
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.line(1, at).operator("aten::prepare", at, 500).line(2, at + 500)
        builder.kernel("gemm", at + 510, 450, launch_at_us=at + 500).sync(at + 510, 460)
    report = Report.of(builder.build())
    assert hidden_sentence(report.results) == ""
    assert "halving" not in render_text(report)


def test_the_text_holds_the_sentence():
    report = Report.of(stepping(prepare_us=400, kernel_us=1000))
    assert hidden_sentence(report.results) in " ".join(render_text(report).split())
