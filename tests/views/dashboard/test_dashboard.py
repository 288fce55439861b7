"""The dashboard appears fast, builds a tab when it is opened, and one tab that fails stays alone."""

import gzip

import ipywidgets
import pytest

from gpuprof.report import Report
from gpuprof.rules.registry import all_rules
from gpuprof.views.charts.frame import library
from gpuprof.views.dashboard import Dashboard, tabs
from gpuprof.views.dashboard.chart_frame import ChartFrame
from gpuprof.views.tables.html_widget import HtmlWidget
from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import NASTY, device_report, empty_report, host_report, with_findings
from tests.support.trace_builder import TraceBuilder


def inside(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def html(widget):
    shown = (child for child in inside(widget) if isinstance(child, ipywidgets.HTML | HtmlWidget))
    return "".join(child.value if isinstance(child, ipywidgets.HTML) else child.html for child in shown).replace(
        "\u00a0", " "
    )


def opened(dashboard, title):
    titles = list(dashboard.tab.titles)
    index = next(i for i, known in enumerate(titles) if known.startswith(title))
    dashboard.tab.selected_index = index
    return dashboard.tab.children[index]


def test_only_the_first_tab_is_built_at_once():
    dashboard = Dashboard(device_report())
    built = [not html(page).startswith("<p class='gpuprof-note'>Building") for page in dashboard.tab.children]
    assert built == [True] + [False] * (len(built) - 1)
    assert not any(isinstance(widget, TimelineWidget) for widget in inside(dashboard))
    opened(dashboard, "Timeline")
    assert any(isinstance(widget, TimelineWidget) for widget in inside(dashboard))


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_every_tab_can_be_opened(make):
    dashboard = Dashboard(with_findings(make()))
    titles = list(dashboard.tab.titles)
    before = titles[: titles.index("Timeline")]
    assert before[0] == "Findings (2)" and set(before[1:]) <= {"Hot spots", "Lines"}
    assert {"Transfers", "Memory", "Environment", "What if", "Compare"} <= set(titles)
    for title in titles:
        page = opened(dashboard, title)
        assert "could not be built" not in html(page), title
        assert "Building" not in html(page), title


def test_every_shared_trace_has_a_dashboard(any_shared_trace):
    dashboard = Dashboard(Report.of(any_shared_trace))
    for title in dashboard.tab.titles:
        assert "could not be built" not in html(opened(dashboard, title)), title


def test_findings_explain_the_thresholds_of_every_rule():
    page = html(opened(Dashboard(with_findings(device_report())), "Findings"))
    for rule in all_rules():
        assert f'<th scope="row">{rule.name}</th>' in page
        for name, value, _ in rule.thresholds():
            assert f'<td>{name}</td>\n<td class="figure" data-value="{value}">{value:g}</td>' in page.replace(
                ' class="words"', ""
            )


def test_a_finding_leads_to_its_place_in_the_timeline():
    report = with_findings(device_report())
    dashboard = Dashboard(report)
    page = opened(dashboard, "Findings")
    assert html(page).count("data-ask=") == 1
    (sheet,) = [widget for widget in inside(page) if isinstance(widget, HtmlWidget)]
    sheet.ask("show 1")
    assert dashboard.tab.titles[dashboard.tab.selected_index] == "Timeline"
    (timeline,) = [widget for widget in inside(dashboard) if isinstance(widget, TimelineWidget)]
    assert len(timeline.focus_ranges) == len(report.findings[0].where.ranges_ns)


def test_transfers_and_memory_show_figures_beside_the_chart():
    dashboard = Dashboard(device_report())
    transfers, memory = opened(dashboard, "Transfers"), opened(dashboard, "Memory")
    assert "host to device" in html(transfers)
    assert "<td>pageable</td>" in html(transfers)
    assert "220 MiB" in html(transfers)
    assert "12.8 GiB" in html(memory)
    for page in (transfers, memory):
        assert sum(isinstance(widget, ChartFrame) for widget in inside(page)) == 1


def test_a_tab_without_data_says_so_in_words():
    page = opened(Dashboard(host_report()), "Transfers")
    assert "so there are no copies to show" in html(page)
    assert not any(isinstance(widget, ChartFrame) for widget in inside(page))


def test_that_nothing_was_recorded_is_said_once():
    trace = TraceBuilder().device(0).kernel("sgemm", 0, 50).build()
    page = html(opened(Dashboard(Report.of(trace)), "Memory"))
    assert page.count("<p") == 1 and "profile_memory=True" in page


def test_names_are_data():
    dashboard = Dashboard(with_findings(device_report(name=NASTY)))
    for title in dashboard.tab.titles:
        opened(dashboard, title)
    assert "<img src=x" not in html(dashboard)
    assert "&lt;img src=x" in html(dashboard)


def test_a_tab_that_fails_says_so_and_the_others_stand(monkeypatch):
    section = tabs.section

    def fail(report, shown):
        if shown.key == "memory":
            raise RuntimeError("no <b>luck</b>")
        return section(report, shown)

    monkeypatch.setattr(tabs, "section", fail)
    dashboard = Dashboard(device_report())
    assert "RuntimeError: no &lt;b&gt;luck&lt;/b&gt;" in html(opened(dashboard, "Memory"))
    assert "host to device" in html(opened(dashboard, "Transfers"))


def test_bokehjs_travels_compressed():
    assert len(library()) < 500_000
    assert b"Bokeh" in gzip.decompress(library())
