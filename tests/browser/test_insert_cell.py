"""A button under a cell puts a new cell below it, as typed, and runs it where it is asked to."""

from __future__ import annotations

import time

import nbformat
import pytest

from tests.support.jupyter import jupyterlab

pytestmark = pytest.mark.browser

CELL = """from gpuprof.views.tables.html_widget import HtmlWidget
def asked(what):
    widget.send({"insert": "for i in range(2):\\n    x = 40 + i\\nx", "run": what == "run"})
    return "asked"
widget = HtmlWidget('<button data-ask="put">put it</button><button data-ask="run">run it</button>', asked)
widget"""


def test_a_cell_is_put_below_and_run(browser, screenshots, tmp_path):
    with jupyterlab(tmp_path) as server:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in (CELL, "'last'")])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, server.folder / "cells.ipynb")
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        page.goto(server.url("lab/tree/cells.ipynb"))
        page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
        cells = page.locator(".jp-CodeCell")
        cells.nth(0).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        page.get_by_role("button", name="put it").click()
        _until(lambda: cells.count() == 3)
        _until(
            lambda: cells.nth(1).locator(".cm-line").all_inner_texts() == ["for i in range(2):", "    x = 40 + i", "x"]
        )
        page.get_by_role("button", name="run it").click()
        _until(lambda: cells.count() == 4)
        cells.nth(1).get_by_text("41", exact=True).wait_for()
        assert cells.nth(2).locator(".jp-InputPrompt").inner_text() == "[ ]:"
        page.screenshot(path=screenshots / "lab-inserted.png")
        page.close()


def _until(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "gave up waiting"
        time.sleep(0.2)
