"""While a cell runs in a real JupyterLab its output tells what it does; then the dashboard stands there."""

from __future__ import annotations

import time

import nbformat
import pytest

from tests.support.fake_nvml.fixtures import build
from tests.support.jupyter import jupyterlab

pytestmark = pytest.mark.browser

SET_UP = "%load_ext gpuprof\nimport time, torch\nfrom torch.utils.data import DataLoader\n'ready'"
CELL = """%%gpuprofile
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(torch.randn(960, 8), batch_size=8):
    model(x).sum().backward()
    optimizer.step()
    time.sleep(0.06)"""
STATUS_BAR = ".gpuprof-live"


@pytest.fixture
def page(browser, tmp_path, monkeypatch):
    orders = tmp_path / "orders"
    orders.write_text("")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(build().parent))
    monkeypatch.setenv("FAKE_NVML_CONTROL", str(orders))
    with jupyterlab(tmp_path) as server:
        cells = [nbformat.v4.new_code_cell(source) for source in (SET_UP, CELL)]
        notebook = nbformat.v4.new_notebook(cells=cells)
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "live.ipynb")
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.set_default_timeout(60_000)
        page.goto(server.url("lab/tree/live.ipynb"))
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
        yield page
        page.close()


def run(page, index: int) -> None:
    page.locator(".jp-CodeCell").nth(index).locator(".cm-content").click()
    page.keyboard.press("Control+Enter")


def test_the_strip_shows_the_running_cell_and_becomes_the_dashboard(page, screenshots):
    # GIVEN a cell of 120 steps that takes over seven seconds
    run(page, 0)
    page.get_by_text("'ready'", exact=True).wait_for()
    run(page, 1)
    # WHEN it runs
    status_bar = page.locator(STATUS_BAR)
    status_bar.get_by_text("batch").wait_for()
    before = status_bar.inner_text()
    # THEN the status bar tells device, step and progress, and moves on
    for words in ("gpuprof · ", "of 120", "Fake Device A", "memory", "power", "temperature"):
        assert words in before.replace("\u00a0", " "), before
    page.wait_for_timeout(3000)
    assert status_bar.inner_text() != before
    assert status_bar.locator("canvas").first.evaluate("c => c.getContext('2d').getImageData(0, 0, 1, 1).data[3]") > 0
    status_bar.screenshot(path=str(screenshots / "lab-status-bar.png"))
    # and afterwards the dashboard stands in its place
    page.locator(".gpuprof-summary").wait_for()
    assert page.locator(STATUS_BAR).count() == 0
    time.sleep(0.5)
    page.screenshot(path=str(screenshots / "lab-live-after.png"))
