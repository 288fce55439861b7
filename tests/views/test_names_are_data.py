"""Names of kernels, operators, ranges, files, cells, devices and variables are text in every view, never markup."""

import json
from html.parser import HTMLParser

import pytest

from gpuprof.views.dashboard import Dashboard
from gpuprof.views.html import render_page
from gpuprof.views.notebook_report import render_bundle
from gpuprof.views.text import render_text
from tests.support.reports import NASTY, nasty_report
from tests.views.dashboard.test_dashboard import html, opened

PIECES = 12  # of the name, at least, in a view that shows it in a table of kernels, of operators, of devices, ...


class Read(HTMLParser):
    """What a browser would make of it: elements, their attributes, and text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data

    def harmless(self):
        handlers = [name for name, _ in self.attributes if name.startswith("on")]
        sources = [value for name, value in self.attributes if name == "src" and not value.startswith("data:")]
        return handlers == [] and sources == []


@pytest.fixture(scope="module")
def report():
    return nasty_report()


def test_in_the_page(report):
    page = Read(render_page(report))
    assert page.harmless() and page.tags.count("script") == 3  # data, buffer, program
    assert page.text.count(NASTY) > PIECES
    payload = json.loads(render_page(report).partition('id="payload">')[2].partition("</script>")[0])
    assert NASTY in payload["names"]


def test_in_the_paper_and_the_text(report):
    bundle = render_bundle(report, embed=True)
    paper = Read(bundle["text/html"])
    assert paper.harmless() and "script" not in paper.tags
    assert NASTY in paper.text
    folded = dict(paper.attributes)["srcdoc"]
    assert Read(folded).harmless()
    assert NASTY in render_text(report).replace("\n", " ")


def test_in_every_tab_of_the_dashboard(report):
    dashboard = Dashboard(report)
    shown = ""
    for title in dashboard.tab.titles:
        tab = html(opened(dashboard, title))
        assert Read(tab).harmless(), title
        shown += tab
    assert Read(shown).text.count(NASTY) > 4
