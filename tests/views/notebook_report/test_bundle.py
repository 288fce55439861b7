"""The paper reads well stripped of everything, is small, and takes names for data."""

import re
from html.parser import HTMLParser

import pytest

from gpuprof.report import Comparison, Report, Summary
from gpuprof.units import duration, percent
from gpuprof.views import wording
from gpuprof.views.notebook_report import bundle, render_bundle, render_paper
from tests.support.reports import NASTY, device_report, empty_report, host_report, with_findings
from tests.support.sanitiser import sanitised

PAGE = "<!doctype html><script>'the page's own'</script>" + "x" * 1000


class Reader(HTMLParser):
    """Collects what a reader sees, and the elements that carry it."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.parts, self.tags = [], []
        self.feed(html)

    def handle_data(self, data):
        self.parts.append(data)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.parts.append(" ")  # cells stand apart without a space between them

    @property
    def words(self):
        return " ".join("".join(self.parts).replace("\u00a0", " ").split())


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_stripped_of_everything_it_still_says_everything(make):
    report = with_findings(make())
    seen = Reader(sanitised(render_paper(report, page_html=PAGE)))
    assert report.verdict.headline in seen.words
    for row in wording.budget_rows(report):
        assert f"{row.kind.label} {row.kind.meaning}" in seen.words.replace("■ ", "")
        assert duration(row.ns) in seen.words
        assert percent(row.share) in seen.words
    for finding in report.findings:
        for part in (finding.title, finding.explanation, finding.change, finding.leave_it):
            assert " ".join(part.split()) in seen.words
    assert "num_workers=6, persistent_workers=True" in seen.words
    assert "Profile with --shapes." in seen.words
    assert {"script", "style", "iframe", "svg"}.isdisjoint(tag for tag, _ in seen.tags)


def test_the_picture_survives_with_words_for_those_who_cannot_see_it():
    seen = Reader(sanitised(render_paper(device_report(), page_html=None)))
    ((_, picture),) = [tag for tag in seen.tags if tag[0] == "img"]
    assert picture["src"].startswith("data:image/png;base64,")
    assert picture["alt"].startswith("The timeline of 839 ms of device 0")


def test_names_are_data():
    report = with_findings(device_report(name=NASTY))
    html = render_paper(report, page_html=PAGE)
    assert "<img src=x" not in html
    assert NASTY in Reader(html).words
    (frame,) = [attributes for tag, attributes in Reader(html).tags if tag == "iframe"]
    assert frame["srcdoc"] == PAGE
    assert frame["sandbox"] == "allow-scripts allow-downloads"


def test_nothing_in_it_touches_the_page_around_it():
    html = render_paper(with_findings(device_report()), page_html=None)
    assert not re.search(r"<(style|script|link)\b|\s(class|id|onclick)=|var\(", html)
    assert not re.search(r"<h[1-6]\b", html)  # they would enter the notebook's table of contents


@pytest.mark.parametrize("comparison", [False, True])
def test_the_bundle_has_the_text_and_the_paper_and_no_widget(comparison):
    report = with_findings(host_report())
    compared = Comparison(before=Summary.of(host_report()), after=Summary.of(report)) if comparison else None
    shown = render_bundle(report, comparison=compared, unsaved="the folder is read-only")
    assert set(shown) == {"text/plain", "text/html"}
    for kind in shown.values():
        assert "the folder is read-only" in kind
        assert ("No clear difference" in kind) == comparison


def test_every_shared_trace_fits_a_notebook(any_shared_trace):
    report = Report.of(any_shared_trace)
    assert sum(len(part.encode()) for part in render_bundle(report).values()) < 90_000
    assert sum(len(part.encode()) for part in render_bundle(report, embed=True).values()) < 1_000_000


@pytest.mark.parametrize("make", [device_report, host_report, empty_report])
def test_a_usual_cell_takes_less_than_60_kb_of_its_notebook(make):
    assert sum(len(part.encode()) for part in render_bundle(with_findings(make())).values()) < 60_000
    assert sum(len(part.encode()) for part in render_bundle(make()).values()) < 60_000


def test_the_interactive_page_is_embedded_on_request_only():
    report = device_report()
    assert "<iframe" not in render_bundle(report)["text/html"]
    assert "--embed" in render_bundle(report)["text/html"]
    assert "<iframe" in render_bundle(report, embed=True)["text/html"]


def test_all_but_the_card_is_folded():
    html = render_paper(with_findings(device_report()), page_html=None)
    card, _, folded = html.partition("<details")
    assert "%gpufix 1" in card and "Load with DataLoader" in card and "<img" not in card
    assert "What to change, best first" in folded and "<img" in folded
    saving = "aves 22–38%"
    assert saving in card and saving not in folded


def test_a_page_that_is_too_large_is_left_out_and_said_to_be():
    html = render_paper(host_report(), page_html="x" * (bundle.MOST_PAGE_BYTES + 1))
    assert "<iframe" not in html
    assert "too large for a notebook" in html
