"""Every view and every rule stands every kind of run, and says of each what it is known for."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest
from PIL import Image

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.contract import to_dict
from gpuprof.rules.registry import judge
from gpuprof.views import text
from gpuprof.views.charts.frame import bokeh_item
from gpuprof.views.charts.plots import all_charts, draw
from gpuprof.views.dashboard import Dashboard
from gpuprof.views.html import render_page
from gpuprof.views.notebook_report import render_paper
from gpuprof.views.static_png.draw import WIDTH, render_picture
from gpuprof.views.timeline.build import build as build_timeline
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import fidelity
from gpuprof.whatif.grade import grade
from gpuprof.whatif.graph.build import build as build_graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, NodeKind
from gpuprof.whatif.predict import busy_bound_ns
from gpuprof.whatif.retime import frozen, retime, span_ns
from tests.support.built_runs import BUILT

FOUND = [
    ("waits_for_its_loader", "input_stall"),
    ("pageable_copies", "pageable_h2d_copy"),
    ("reads_in_a_loop", "sync_in_step"),
    ("tiny_kernels", "launch_bound"),
    ("rank_of_several", "exposed_collective"),
    ("cold_start", "cold_start_dominates"),
]
NOT_FOUND = [
    ("loader_with_workers", "input_stall"),
    ("pinned_copies", "pageable_h2d_copy"),
    ("rank_of_several", "input_stall"),
    ("rank_of_several", "launch_bound"),
    ("stacks_and_samples", "exposed_collective"),
    ("compiled", "unfused_pointwise"),
    ("waits_for_its_loader", "cold_start_dominates"),
]
ABSTAINED = [
    ("rocm", "pageable_h2d_copy"),
    ("no_device", "launch_bound"),
    ("host_alone", "small_batch"),
    ("device_only", "cold_start_dominates"),
]


@pytest.fixture(params=BUILT)
def built(request: pytest.FixtureRequest) -> Trace:
    """Each built run in turn."""
    return BUILT[request.param]()


def found(name: str) -> set[str]:
    return {each.rule for each in judge(Results(BUILT[name]()), strict=True).findings}


@pytest.mark.parametrize(("name", "rule"), FOUND)
def test_the_known_fault_is_found(name: str, rule: str) -> None:
    assert rule in found(name)


@pytest.mark.parametrize(("name", "rule"), NOT_FOUND)
def test_what_is_not_there_is_not_found(name: str, rule: str) -> None:
    assert rule not in found(name)


@pytest.mark.parametrize(("name", "rule"), ABSTAINED)
def test_a_rule_without_its_signal_abstains(name: str, rule: str) -> None:
    assert rule in {each.rule for each in judge(Results(BUILT[name]()), strict=True).abstained}


def test_every_rule_stands_every_run(built: Trace) -> None:
    judgement = judge(Results(built), strict=True)
    said = [each.rule for each in (*judgement.findings, *judgement.abstained)]
    assert len(said) == len(set(said))
    for finding in judgement.findings:
        for words in (finding.title, finding.explanation, finding.change, finding.leave_it):
            assert words and not {"None", "nan", "unknown"} & set(words.replace(".", " ").split())
        for start, end in finding.where.ranges_ns:
            assert built.span_start_ns <= start < end <= built.span_end_ns + 1


def test_every_run_is_plain_json_and_adds_up(built: Trace) -> None:
    told = json.loads(json.dumps(to_dict(Report.of(built)), allow_nan=False))
    total = math.fsum(entry["ms"] for entry in told["time_budget"])
    if told["devices"]:
        assert total == pytest.approx(told["source"]["span_ms"], rel=1e-3)
    assert max(map(len, text.render_text(Report.of(built)).splitlines())) <= text.WIDTH


def test_every_run_is_drawn(built: Trace) -> None:
    report = Report.of(built)
    png = render_picture(built, report.results)
    assert png is not None and Image.open(io.BytesIO(png)).width == WIDTH
    for name in all_charts():
        assert json.loads(bokeh_item(draw(report, name)))["root_id"]


def test_every_run_has_its_pages(built: Trace) -> None:
    report = Report.of(built)
    assert len(render_paper(report, page_html=None).encode()) < 150_000
    page = render_page(report, most_bytes=750_000)
    assert len(page.encode()) < 750_000 and "could not be built" not in page
    dashboard = Dashboard(report)
    for number in range(len(dashboard.tab.titles)):
        dashboard.tab.selected_index = number
    assert dashboard.tab.titles


def test_no_event_of_a_run_is_lost(built: Trace) -> None:
    timeline = build_timeline(built)
    tables = (built.operators, built.user_ranges, built.calls, built.device_events, built.frames, built.steps)
    assert timeline.events == sum(map(len, tables))
    for series in timeline.series():
        assert (series.start_ns[1:] >= (series.start_ns + series.duration_ns)[:-1]).all()


def test_every_run_has_a_graph_that_obeys(built: Trace) -> None:
    graph = build_graph(built)
    facts = fidelity(built, graph)
    assert 0 <= facts.unexplained_ns <= facts.idle_ns and grade(facts).letter in "ABCD"
    ends, nodes = retime(graph), np.arange(len(graph.nodes))
    for faster in (
        graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), 0.5),
        graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP)),
        graph_edits.drop_edge(graph, nodes, *HOST_WAITS),
    ):
        assert (retime(faster) <= ends).all() and span_ns(faster) >= busy_bound_ns(faster)
    if graph.recorded_span_ns:
        assert span_ns(frozen(graph)) == pytest.approx(graph.recorded_span_ns, rel=0.002)
