"""A dashboard that is closed or replaced leaves no widget, no comm and no run behind; the others stay."""

import gc
import os
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path

import ipywidgets
import pytest
from ipywidgets.widgets import widget as registry

from gpuprof.model.measured import Measured
from gpuprof.run import Run
from gpuprof.views.dashboard import Dashboard
from gpuprof.views.html import render_page
from gpuprof.views.live.place import Place
from gpuprof.views.tables.html_widget import HtmlWidget
from tests.support.reports import device_report, with_findings
from tests.views.dashboard.test_dashboard import html, inside, opened


def alive() -> set[str]:
    return set(registry._instances)


def visited(report) -> Dashboard:
    """A dashboard whose every tab was opened."""
    dashboard = Dashboard(report)
    for title in dashboard.tab.titles:
        opened(dashboard, title)
    return dashboard


def test_closing_takes_every_widget_and_lets_the_run_go():
    before = alive()
    report = device_report()
    gone = weakref.ref(report)
    dashboard = visited(report)
    assert len(alive() - before) > 20
    dashboard.close()
    assert alive() - before == set()
    del report
    gc.collect()
    assert gone() is None
    dashboard.close()


def test_a_cell_that_runs_again_takes_its_own_old_dashboard_and_no_other():
    before = alive()
    first, other = Place.under("cell a"), Place.under("cell b")
    old, stays = visited(device_report()), Dashboard(device_report())
    first.put(old)
    other.put(stays)
    gone = weakref.ref(old)
    of_other = {each.model_id for each in inside(other)}
    # WHEN cell a runs again
    again = Place.under("cell a")
    del old, first
    gc.collect()
    assert gone() is None
    assert of_other <= alive()
    assert isinstance(stays.tab, ipywidgets.Tab) and stays.comm is not None
    for place in (again, Place.under("cell b"), Place.under("cell a")):
        place.close()
        place.layout.close()
    assert alive() - before == set()


def test_what_stood_in_a_place_is_closed_when_something_else_does():
    before = alive()
    place = Place.under("cell c")
    place.put(HtmlWidget("<p>one</p>"))
    place.put(HtmlWidget("<p>two</p>"))
    assert len(alive() - before) == 4  # the box and the sheet, with a layout each
    place.put(None)
    assert len(alive() - before) == 2


def test_findings_show_what_was_measured_later():
    report = with_findings(device_report())
    run = Run(report.trace)
    run.__dict__["report_data"] = report
    dashboard, closed = run.widget(), run.widget()
    assert "Measured" not in html(opened(dashboard, "Findings"))
    closed.close()
    left = len(alive())
    text = "measured 1.27× (1.24–1.30) in 14 pairs, guard passed"
    run._add_measured(Measured(number=1, rule="input_stall", text=text, measurement={}, created_ns=1))
    assert html(opened(dashboard, "Findings")).count(f"<strong>Measured:</strong> {text}") == 1
    assert len(alive()) == left  # the sheet of before is gone
    dashboard.close()


@pytest.mark.parametrize("number", [3, None])
def test_the_report_is_exported_over_nothing_that_is_there(tmp_path, monkeypatch, number):
    monkeypatch.chdir(tmp_path)
    report = device_report()
    report = replace(report, trace=report.trace)
    object.__setattr__(report.trace, "context", _numbered(report.trace.context, number))
    runs = tmp_path / ".gpuprof" / "run"
    runs.mkdir(parents=True)
    dashboard = Dashboard(report, runs, render_page=render_page)
    dashboard.head.ask("export")
    dashboard.head.ask("export")
    stem = "gpuprof-report" if number is None else f"gpuprof-report-{number}"
    assert sorted(path.name for path in tmp_path.glob("*.html")) == sorted([f"{stem}.html", f"{stem}-2.html"])
    assert dashboard.head.said == f"Wrote {tmp_path / f'{stem}-2.html'}"
    assert dashboard.head.answers == 2
    assert "gpuprof" in (tmp_path / f"{stem}.html").read_text()


def test_an_export_that_fails_is_one_line(tmp_path):
    dashboard = Dashboard(device_report(), tmp_path / "missing" / ".gpuprof" / "run", render_page=render_page)
    dashboard.head.ask("export")
    assert dashboard.head.said == "The report could not be written: No such file or directory"


UNCLOSED = """
from gpuprof.views.dashboard import Dashboard
from gpuprof.views.dashboard.compare import Compare
from gpuprof.views.live import StatusBar
from gpuprof.views.live.place import Place
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import device_report
report = device_report()
{made}
"""


@pytest.mark.parametrize(
    "made",
    [
        "kept = Dashboard(report)",
        "kept = Dashboard(report)\nfor at, _ in enumerate(kept.tab.titles): kept.tab.selected_index = at",
        "kept = Place.under('a cell')\nkept.put(Dashboard(report))",
        "HtmlWidget('<p>one</p>')\nkept = HtmlWidget('<p>two</p>', print)",
        "kept = StatusBar(), Compare(report, None), TimelineWidget(report.trace)",
    ],
)
def test_the_interpreter_ends_in_silence_with_widgets_unclosed(made, tmp_path):
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", UNCLOSED.format(made=made)]
    ended = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def _numbered(context, number):
    fields = {name: getattr(context, name) for name in context.__struct_fields__}
    return type(context)(**{**fields, "run_number": number})
