"""An executed notebook as nbconvert's HTML: the report is legible, its picture shows, nothing is asked of a network."""

from __future__ import annotations

import nbformat
import pytest

from gpuprof.views.notebook_report import render_bundle
from tests.support.reports import NASTY, device_report, with_findings

pytestmark = pytest.mark.browser

PICTURE = "() => { const { complete, naturalWidth, clientWidth } = document.querySelector('.jp-OutputArea-output img');"
PICTURE += " return complete && naturalWidth >= 1200 && clientWidth > 600; }"


@pytest.fixture
def converted(tmp_path):
    """A notebook with a report in it, as HTML."""
    nbconvert = pytest.importorskip("nbconvert")
    data = render_bundle(with_findings(device_report(name=NASTY, steps=3, run=NASTY)), embed=True)
    output = nbformat.v4.new_output("display_data", data=data)
    cells = [nbformat.v4.new_code_cell("%%gpuprofile\ntrain()", execution_count=1, outputs=[output])]
    path = tmp_path / "train.html"
    # where nbconvert would name scripts of a content network it names nothing: those are its own, not the report's
    exporter = nbconvert.HTMLExporter(
        require_js_url="", mathjax_url="", jquery_url="", mermaid_js_url="", widget_renderer_url=""
    )
    path.write_text(exporter.from_notebook_node(nbformat.v4.new_notebook(cells=cells))[0], encoding="utf-8")
    return path


def test_the_report_is_legible_and_alone(browser, converted, screenshots):
    page = browser.new_page(viewport={"width": 1000, "height": 1600})
    outside: list[str] = []
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.route(
        lambda url: not url.startswith(("file:", "data:", "about:")),
        lambda r: (outside.append(r.request.url), r.abort()),
    )
    page.goto(converted.as_uri())
    page.locator("summary", has_text="All details").click()
    words = page.locator("body").inner_text().replace("\u00a0", " ")
    assert "waiting for data" in words and "How far to trust this" in words
    assert NASTY in words
    assert page.evaluate(PICTURE)
    page.screenshot(path=screenshots / "nbconvert.png", full_page=True)
    page.locator("summary", has_text="Interactive timeline").click()
    page.frame_locator("iframe").locator(".gp-canvas").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=screenshots / "nbconvert-interactive.png", full_page=True)
    assert outside == [] and dialogs == []
    page.close()
