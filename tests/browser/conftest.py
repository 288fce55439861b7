"""One Chromium for all browser tests, with nothing in it that asks the network on its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.opened import Opened

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SCREENSHOTS = Path(__file__).resolve().parents[2] / "screenshots"


def _chromium() -> str:
    found = os.environ.get("GPUPROF_CHROMIUM") or shutil.which("chromium")
    if not found or not Path(found).exists():
        pytest.skip("chromium is missing: `apt-get install chromium`, or name another in GPUPROF_CHROMIUM")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium through Playwright's sync API."""
    api = pytest.importorskip("playwright.sync_api")
    executable = _chromium()
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def module_page(browser: Any) -> Iterator[Any]:
    """A page in which the timeline's functions can be called by name."""
    from gpuprof.views.timeline import bundle

    names = ", ".join(re.findall(r"^(?:async )?function (\w+)", bundle.script(), re.MULTILINE))
    page = browser.new_page()
    page.set_content("<!doctype html><p>arithmetic</p>")
    script = f"{bundle.script()}\nObject.assign(window, {{ {names} }}); window.ready = true;"
    page.add_script_tag(content=script, type="module")
    while not page.evaluate("() => window.ready === true"):
        page.wait_for_timeout(20)
    yield page
    page.close()


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens the page of a report, from disk: a function of the report and options of the browser's page."""
    from gpuprof.views.html import render_page

    opened: list[Opened] = []

    def open_(report: Any, **options: Any) -> Opened:
        path = tmp_path / f"page-{len(opened)}.html"
        path.write_text(render_page(report), encoding="utf-8")
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield open_
    for page in opened:
        page.page.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of what the browser showed are kept (not in git)."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return SCREENSHOTS
