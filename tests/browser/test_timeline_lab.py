"""The timeline's widget in a real JupyterLab: its keys are its own, and its data comes whole."""

from __future__ import annotations

import nbformat
import pytest

from tests.support.jupyter import jupyterlab

pytestmark = pytest.mark.browser

CELL = """from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import NASTY, device_report, with_findings
report = with_findings(device_report(name=NASTY))
TimelineWidget(report.trace, report=report)"""


@pytest.fixture(scope="module")
def lab(browser, tmp_path_factory):
    """A notebook in JupyterLab with a timeline of two findings' worth."""
    with jupyterlab(tmp_path_factory.mktemp("lab")) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL), nbformat.v4.new_code_cell("1 + 1")])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "timeline.ipynb")
        page = browser.new_page(viewport={"width": 1100, "height": 1100})
        page.set_default_timeout(40_000)
        page.complaints = []
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        page.goto(server.url("lab/tree/timeline.ipynb"))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        page.keyboard.press("Control+b")
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".gp-canvas")
        yield page
        page.close()


def settle(page):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def picture(page):
    settle(page)
    return page.locator(".gp-canvas").screenshot()


def cells(page):
    return page.locator(".jp-CodeCell").count()


def test_the_keys_of_the_timeline_are_not_the_notebooks(lab):
    lab.locator(".gp-canvas").focus()
    lab.keyboard.press("Home")
    before, whole = cells(lab), picture(lab)
    box = lab.locator(".gp-canvas").bounding_box()
    lab.mouse.click(box["x"] + 400, box["y"] + 90)
    for key in ("+", "ArrowRight", "]", "f", "-", "Home", "s", "a", "b", "x", "m"):
        lab.keyboard.press(key)
    settle(lab)
    assert lab.evaluate("() => document.activeElement.classList.contains('gp-canvas')")
    assert lab.get_by_role("region", name="Sum of the selected range").count() == 1
    assert cells(lab) == before
    assert lab.locator(".jp-MarkdownCell").count() == 0
    lab.keyboard.press("Escape")
    assert lab.get_by_role("region", name="Sum of the selected range").count() == 0
    lab.keyboard.press("/")
    lab.keyboard.type("onerror")
    assert lab.locator(".gp-count").inner_text() == "360 found"
    lab.keyboard.press("Enter")
    lab.keyboard.press("Shift+Enter")
    assert lab.locator(".gp-count").inner_text() == "360 of 360"
    assert cells(lab) == before
    lab.keyboard.press("Escape")
    lab.keyboard.press("Escape")
    lab.keyboard.press("Home")
    lab.mouse.move(5, 5)
    assert picture(lab) == whole


def test_shift_and_drag_sum_up_in_the_notebook(lab, screenshots):
    box = lab.locator(".gp-canvas").bounding_box()
    lab.keyboard.down("Shift")
    lab.mouse.move(box["x"] + 300, box["y"] + 90)
    lab.mouse.down()
    lab.mouse.move(box["x"] + 640, box["y"] + 90, steps=5)
    lab.mouse.up()
    lab.keyboard.up("Shift")
    words = lab.get_by_role("region", name="Sum of the selected range").inner_text()
    assert "</script><img src=x onerror=alert(1)>" in words
    assert "idle: waiting for data" in words
    lab.screenshot(path=screenshots / "timeline-lab-sum.png")
    wide = lab.evaluate(
        "() => { const o = document.querySelector('.jp-OutputArea-output'); return o.scrollWidth - o.clientWidth; }"
    )
    assert wide <= 0
    assert lab.locator(".gp-timeline img").count() == 0
    assert lab.complaints == []


def test_tab_walks_the_findings_and_leaves(lab):
    lab.locator(".gp-canvas").focus()
    lab.keyboard.press("Tab")
    assert "Finding 1 of 1, place 1 of 6: The GPU waits" in lab.locator(".gp-status").inner_text()
    lab.keyboard.press("Tab")
    assert not lab.evaluate("() => document.activeElement.classList.contains('gp-canvas')")
