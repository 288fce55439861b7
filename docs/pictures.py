"""Take the site's pictures.

python docs/pictures.py TRACE   of the page of that trace (needs Debian's chromium)
python docs/pictures.py         of a profiled cell, the dashboard and the live strip, as the browser tests left them
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

import gpuprof

IMAGES = Path(__file__).resolve().parent / "images"
SCREENSHOTS = IMAGES.parents[1] / "screenshots"
FROM_TESTS = {"report": "lab-cell", "dashboard": "lab-dashboard-findings", "live": "lab-live-strip"}
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
TABS = {"timeline": "Timeline", "transfers": "Transfers", "memory": "Memory"}
TALLEST = 480


def main(trace: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = gpuprof.load(trace).report(Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 900}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        for name, title in TABS.items():
            _take(page, name, title)
        browser.close()


def from_tests() -> None:
    for name, screenshot in FROM_TESTS.items():
        shutil.copyfile(SCREENSHOTS / f"{screenshot}.png", IMAGES / f"{name}.png")


def _take(page: Page, name: str, title: str) -> None:
    page.get_by_role("tab", name=title).click()
    panel = page.get_by_role("tabpanel").and_(page.locator(":visible"))
    panel.first.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box = panel.first.bounding_box() or {"x": 0, "y": 0, "width": 1100, "height": 900}
    clip = {**box, "y": box["y"] + page.evaluate("scrollY"), "height": min(box["height"], TALLEST)}
    page.screenshot(path=IMAGES / f"{name}.png", clip=clip, full_page=True)


if __name__ == "__main__":
    main(Path(sys.argv[1])) if sys.argv[1:] else from_tests()
