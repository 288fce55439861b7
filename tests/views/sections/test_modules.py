"""The Modules tab, and the modules in the text and in the JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator

from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.contract import json_schema, to_dict
from gpuprof.views import module_words
from gpuprof.views.blocks import Name, TableBlock, TableCell
from gpuprof.views.dashboard import Dashboard
from gpuprof.views.html import render_page
from gpuprof.views.sections.modules import SECTION
from gpuprof.views.text import WIDTH, render_text
from tests.analyses.modules.test_module_times import training
from tests.support.reports import NASTY, empty_report
from tests.support.trace_builder import TraceBuilder
from tests.views.dashboard.test_dashboard import html, opened


def table(report: Report) -> TableBlock:
    (found,) = SECTION.blocks(report)
    assert isinstance(found, TableBlock)
    return found


def texts(found: TableBlock) -> list[list[str]]:
    return [[each.text if isinstance(each, TableCell | Name) else each for each in row] for row in found.rows]


def test_the_tree_has_time_on_host_and_device() -> None:
    found = table(Report.of(training().build()))
    assert found.heads == (
        *("module", "class", "calls", "device", "device share", "device, own", "device, backward"),
        *("host", "host share", "host, own", "host, backward"),
    )
    assert texts(found)[0][:6] == ["Net", "Net", "1", "36.0 µs", "97 %", "2.00 µs"]
    assert [row[0] for row in texts(found)] == ["Net", "\u2003a", "\u2003layers.0"]
    assert "Calls of modules were marked" in found.note and not found.sortable


def test_page_and_dashboard_show_it_also_without_findings() -> None:
    report = Report.of(training().build())
    assert not report.findings
    for shown in (render_page(report), html(opened(Dashboard(report), "Modules"))):
        assert "Time by module</caption>" in shown and "layers.0" in shown


def test_it_is_nowhere_without_modules() -> None:
    assert not SECTION.known(empty_report())
    assert to_dict(empty_report())["modules"] is None
    assert module_words.lines(empty_report().results, WIDTH) == []


def test_names_are_data() -> None:
    builder = TraceBuilder().module(NASTY, 0, 10).module(f"{NASTY}.a", 0, 5).operator("aten::mm", 0, 10)
    page = render_page(Report.of(builder.build()))
    assert "<img src=x" not in page and "&lt;img src=x" in page


def test_a_partly_marked_run_says_so() -> None:
    trace = training().build()
    marked = trace.context.modules
    assert marked is not None
    assert "scaled up" not in table(Report.of(trace)).note
    half = type(marked)(start_ns=-1_000, end_ns=0, modules=marked.modules, gaps_ns=((-500, 0),))
    context = type(trace.context)(modules=half)
    assert "for 50 % of the recording" in table(Report.of(replace(trace, context=context))).note


def test_the_text_has_five_lines_at_most() -> None:
    lines = module_words.lines(Report.of(training().build()).results, WIDTH)
    assert lines[0].startswith("Modules with the most device time of their own")
    assert lines[1:] == ["     65 %  Net.a (Linear)", "     27 %  Net.layers.0 (Linear)", "    5.4 %  Net"]
    many = TraceBuilder().operator("aten::mm", 0, 1000)
    for number in range(9):
        many.module(f"Net.part{number}", 100 * number, 100, kind="Linear")
    assert len(module_words.lines(Report.of(many.build()).results, WIDTH)) == module_words.MOST_LINES
    one = TraceBuilder().operator("aten::mm", 0, 1000).module("Net", 0, 100)
    assert module_words.lines(Report.of(one.build()).results, WIDTH) == []


def test_a_long_path_keeps_its_ends() -> None:
    path = ".".join(("Net", *(f"a_rather_long_name_{number}" for number in range(9))))
    report = Report.of(TraceBuilder().operator("aten::mm", 0, 10).module("Net", 0, 10).module(path, 0, 9).build())
    (line,) = [each for each in module_words.lines(report.results, WIDTH) if "…" in each]
    assert len(line) <= WIDTH and line.strip().startswith("90 %  Net … a_rather") and "name_8" in line
    assert line in render_text(report)


def test_the_json_has_every_path() -> None:
    told = to_dict(Report.of(training().build()))
    Draft202012Validator(json.loads(json_schema())).validate(told)
    modules = told["modules"]
    assert modules["source"] == "calls" and modules["marked_share"] == 1.0
    assert [each["path"] for each in modules["paths"]] == [
        ["Net"],
        ["Net", "a"],
        ["Net", "layers"],
        ["Net", "layers", "0"],
    ]
    assert modules["paths"][1]["device_ms"] == pytest.approx(0.024) and modules["paths"][1]["class"] == "Linear"
    assert modules["paths"][2]["class"] is None and modules["paths"][2]["calls"] == 0


def test_every_recording_can_be_shown(any_shared_trace: Trace) -> None:
    report = Report.of(any_shared_trace)
    if SECTION.known(report):
        assert table(report).rows
    assert all(len(line) <= WIDTH for line in module_words.lines(report.results, WIDTH))
