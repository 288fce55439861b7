"""A section is one file: the page and the dashboard both show it, at its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from gpuprof.views import sections
from gpuprof.views.charts.plots import all_charts
from gpuprof.views.dashboard import Dashboard
from gpuprof.views.html import render_page
from gpuprof.views.sections.registry import all_sections, sections_of
from tests.support.reports import NASTY, device_report, empty_report, host_report
from tests.views.dashboard.test_dashboard import html, opened

WEATHER = """
from gpuprof.views.blocks import Sentence, TableBlock, TableCell
from gpuprof.views.sections.section import Section

SECTION = Section(
    order=25,
    key="weather",
    title="Weather",
    known=lambda report: bool(report.trace.devices),
    blocks=lambda report: (TableBlock("Rain", ("where", "mm"), ((report.title, TableCell("7", 7)),)), Sentence("Wet.")),
)
"""


@pytest.fixture
def weather(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more file in the package."""
    (tmp_path / "weather.py").write_text(WEATHER)
    monkeypatch.setattr(sections, "__path__", [*sections.__path__, str(tmp_path)])
    all_sections.cache_clear()
    yield
    sys.modules.pop(f"{sections.__name__}.weather", None)
    all_sections.cache_clear()


def tabs_of_page(page: str) -> list[str]:
    return [unescape(part.partition('"')[0]) for part in page.split('data-title="')[1:]]


def test_keys_and_orders_are_unlike_and_charts_exist() -> None:
    found = all_sections()
    assert len({each.key for each in found}) == len({each.order for each in found}) == len(found) >= 7
    assert {each.chart for each in found} - {None} <= set(all_charts())


def test_a_new_file_is_a_tab_of_both_at_its_place(weather: None) -> None:
    report = device_report(run=NASTY)
    page, dashboard = render_page(report), Dashboard(report)
    in_page, in_dashboard = tabs_of_page(page), list(dashboard.tab.titles)
    for titles in (in_page, in_dashboard):
        assert titles[titles.index("Weather") - 1 : titles.index("Weather") + 2] == ["Transfers", "Weather", "Memory"]
    for shown in (page, html(opened(dashboard, "Weather"))):
        assert "Rain</caption>" in shown and "<p>Wet.</p>" in shown and "<img src=x" not in shown


def test_it_is_nowhere_where_nothing_is_known(weather: None) -> None:
    report = host_report()
    assert "Weather" not in [*tabs_of_page(render_page(report)), *Dashboard(report).tab.titles]


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_page_and_dashboard_have_the_same_sections(make) -> None:  # type: ignore[no-untyped-def]
    report = make()
    titles = [each.title for each in sections_of(report)]
    assert tabs_of_page(render_page(report))[1:] == titles
    shown = list(Dashboard(report).tab.titles)[1:-2]
    assert [each for each in shown if each != "Timeline"] == titles
