"""One Chromium for all browser tests, with nothing in it that asks the network on its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

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


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures of what the browser showed are kept (not in git)."""
    SCREENSHOTS.mkdir(exist_ok=True)
    return SCREENSHOTS
