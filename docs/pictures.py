"""Take the site's pictures.

python docs/pictures.py TRACE   of the page of that trace (needs Debian's chromium)
python docs/pictures.py         of a profiled cell, the dashboard and the status bar, as the browser tests left them

Every picture gets a palette: it is then a third as large.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import gpuprof
from gpuprof.views.static_png.palette import flattened

IMAGES = Path(__file__).resolve().parent / "images"
SCREENSHOTS = IMAGES.parents[1] / "screenshots"
FROM_TESTS = {
    "report": "lab-profiled",
    "card": "lab-card",
    "dashboard": "lab-dashboard-findings",
    "live": "lab-status-bar",
}
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
TABS = {"timeline": "Timeline", "transfers": "Transfers", "memory": "Memory"}
TALLEST = 800
EDGE = 6


def main(trace: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = gpuprof.load(trace).write_html(Path(folder) / "report.html")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 900}, device_scale_factor=1.5)
        page.goto(page_file.as_uri())
        for name, title in TABS.items():
            _take(page, name, title)
        browser.close()


def _select_a_step(page: Page) -> None:
    canvas = page.locator(".gp-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box() or {"x": 0, "y": 0, "width": 1100, "height": 400}
    across = box["width"] - 138
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 138 + across * 0.165, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 138 + across * 0.325, box["y"] + 200, steps=5)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.mouse.move(0, 0)


def from_tests() -> None:
    for name, screenshot in FROM_TESTS.items():
        _keep(SCREENSHOTS / f"{screenshot}.png", name)


def _keep(taken: Path, name: str) -> None:
    with Image.open(taken) as picture:
        small = flattened(picture.convert("RGB"))
    small.save(IMAGES / f"{name}.png", optimize=True)


def _take(page: Page, name: str, title: str) -> None:
    page.get_by_role("tab", name=title).click()
    if title == "Timeline":
        _select_a_step(page)
    shown = page.locator(".gp-timeline, .panel > :not(h2)").and_(page.locator(":visible"))
    page.wait_for_timeout(500)
    boxes = [box for each in shown.all() if (box := each.bounding_box())]
    if title == "Timeline":
        boxes = boxes[:1]
    left, top = min(box["x"] for box in boxes), min(box["y"] for box in boxes)
    height = min(max(box["y"] + box["height"] for box in boxes) - top, TALLEST)
    width = max(box["x"] + box["width"] for box in boxes) - left
    clip = {"x": left - EDGE, "y": top + page.evaluate("scrollY") - EDGE}
    clip |= {"width": width + 2 * EDGE, "height": height + 2 * EDGE}
    taken = IMAGES / f"{name}.png"
    page.screenshot(path=taken, clip=clip, full_page=True)
    _keep(taken, name)


if __name__ == "__main__":
    main(Path(sys.argv[1])) if sys.argv[1:] else from_tests()
