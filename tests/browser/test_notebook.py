"""The same cell in Notebook 7: profiled, looked at, saved, and reopened without its kernel."""

from __future__ import annotations

import time
from types import SimpleNamespace
from urllib.error import HTTPError

import nbformat
import pytest

from tests.browser.test_jupyterlab import CARD, CELLS, DASHBOARD, FOUND, PANEL, REPORT, TABS
from tests.support.jupyter import notebook7

pytestmark = pytest.mark.browser

BOXED = """element => {
    const area = element.closest(".jp-Cell-outputArea");
    // without that class the area is as high as what is in it
    const limited = area.closest(".jp-mod-outputsScrolled") && getComputedStyle(area).overflowY !== "visible";
    return limited || area.scrollHeight > area.clientHeight + 1;
}"""
IDLE = ".jp-Notebook-ExecutionIndicator[data-status='idle']"


@pytest.fixture(scope="module")
def opened(browser, screenshots, tmp_path_factory):
    """The notebook, run up to the profiled cell."""
    pytest.importorskip("notebook", minversion="7")
    with notebook7(tmp_path_factory.mktemp("notebook")) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS[:2]])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "train.ipynb")
        context = browser.new_context(viewport={"width": 1280, "height": 2200})
        outside: list[str] = []
        context.route(
            lambda url: "//127.0.0.1" not in url, lambda route: (outside.append(route.request.url), route.abort())
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(server.url("notebooks/train.ipynb"))
        _until(page, lambda: _connected(server), "no kernel was connected")
        page.locator(IDLE).wait_for()
        for index in range(2):
            _run(page, index)
        page.locator(REPORT).wait_for(timeout=150_000, state="attached")  # twenty steps on a machine that may be busy
        yield SimpleNamespace(page=page, server=server, outside=outside, pictures=screenshots)
        context.close()


def _until(page, reached, otherwise: str) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end, otherwise
        page.wait_for_timeout(300)


def _connected(server) -> bool:
    try:
        return any(each["connections"] for each in server.kernels())
    except HTTPError:  # 500, while a kernel that is listed has not started yet
        return False


def _run(page, index: int) -> None:
    cell = page.locator(".jp-CodeCell").nth(index)
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    cell.get_by_text(f"[{index + 1}]:", exact=True).first.wait_for()


def test_the_card_and_the_dashboard_below_it_stand_under_the_cell(opened):
    page = opened.page
    assert page.get_by_text("'total above zero: True'", exact=True).count() == 1
    card = page.locator(CARD)
    assert card.bounding_box()["height"] <= 220 and not page.locator(REPORT).is_visible()
    page.screenshot(path=opened.pictures / "notebook7-card.png")
    page.get_by_role("button", name="All details").click()
    page.locator(TABS, has_text="Timeline").click()
    page.locator(f"{PANEL} canvas").first.wait_for()
    time.sleep(0.5)  # the first frame of the timeline
    page.screenshot(path=opened.pictures / "notebook7-cell.png")
    # the front end lays out once more when the timeline has its height
    _until(page, lambda: not page.locator(DASHBOARD).evaluate(BOXED), "the dashboard scrolls in a box of its own")
    page.locator(TABS, has_text="Findings").click()
    page.locator(PANEL).get_by_text(FOUND).first.wait_for()
    page.locator(DASHBOARD).screenshot(path=opened.pictures / "notebook7-findings.png")
    assert opened.outside == []


def test_reopened_without_its_kernel_the_report_is_whole(opened):
    page, saved = opened.page, opened.server.folder / "train.ipynb"
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    _until(page, lambda: "How far to trust" in saved.read_text(), "the notebook was not saved")
    page.click(".lm-MenuBar-itemLabel:text-is('Kernel')")
    page.click(".lm-Menu-itemLabel:text-is('Shut Down Kernel')")
    page.goto("about:blank")
    page.goto(opened.server.url("notebooks/train.ipynb"))
    report = page.locator(REPORT)
    report.wait_for()
    words = report.text_content().replace("\u00a0", " ")
    report.locator("summary", has_text="All details").click()
    assert FOUND.search(words)
    assert "Where the time went" in words
    assert report.locator("img").evaluate("image => image.complete && image.naturalWidth") == 1200
    page.screenshot(path=opened.pictures / "notebook7-reopened.png")
    assert page.get_by_text("Error displaying widget").count() == 0
    assert opened.outside == []
