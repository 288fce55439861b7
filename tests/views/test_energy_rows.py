"""Energy in the Device tabs."""

from __future__ import annotations

import msgspec

from gpuprof.analyses.basics.result import Results
from gpuprof.report import Report
from gpuprof.views.dashboard import tabs
from gpuprof.views.energy_rows import energy_note, energy_rows
from gpuprof.views.html import render_page
from gpuprof.views.sections.device import SECTION
from tests.rules.cases.device.energy_idle import FACTS, run
from tests.support.reports import device_report
from tests.views.dashboard.test_dashboard import html


def test_of_the_steps_of_one_and_of_its_idle_part() -> None:
    results = Results(run(30))
    assert [(name, text) for name, text, _ in energy_rows(results)] == [
        ("all steps", "200 J"),
        ("a step", "10.0 J"),
        ("of a step, while idle", "3.00 J (30 %)"),
    ]
    assert "20 power readings" in energy_note(results)


def test_without_power_readings_the_counter_and_no_idle_part() -> None:
    results = Results(
        run(watts=-0.001, facts=msgspec.structs.replace(FACTS, energy_mj=500_000, energy_span_ns=5 * 10**9))
    )
    assert [name for name, _, _ in energy_rows(results)] == ["all steps", "a step"]
    assert "energy counter" in energy_note(results)


def test_nothing_where_it_is_unknown() -> None:
    report = device_report()
    assert energy_rows(report.results) == []
    assert "Energy of the device" not in render_page(report)


def test_it_stands_in_both_device_tabs() -> None:
    report = Report.of(run(30))
    assert "3.00 J (30 %)" in render_page(report).replace("\N{NO-BREAK SPACE}", " ")
    assert "3.00 J (30 %)" in html(tabs.section(report, SECTION))
