"""An exported page in the browser, and a hand to point at its timeline."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any


class Opened:
    """A page that was opened, and all that it asked for or complained about."""

    def __init__(self, browser: Any, path: Path, **options: Any):
        self.page = browser.new_page(viewport={"width": options.pop("width", 1100), "height": 900}, **options)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.path = path
        self.page.goto(path.as_uri())
        self.until(lambda: self.page.query_selector(".gp-canvas") is not None)
        self.page.locator(".gp-canvas").scroll_into_view_if_needed()
        self.settle()

    def until(self, ready: Any, seconds: float = 10) -> None:
        # Playwright's wait_for_function evaluates a string, which the page's policy forbids
        end = time.monotonic() + seconds
        while not ready():
            assert time.monotonic() < end, f"nothing came in {seconds} s; {self.complaints}"
            time.sleep(0.05)

    def settle(self) -> None:
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    @property
    def box(self) -> dict[str, float]:
        return self.page.locator(".gp-canvas").bounding_box()

    def picture(self) -> bytes:
        self.settle()
        return self.page.locator(".gp-canvas").screenshot()

    def colours(self) -> int:
        """How many different colours the canvas holds, up to 50."""
        self.settle()
        return self.page.evaluate("""() => {
            const canvas = document.querySelector(".gp-canvas");
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const seen = new Set();
            for (let i = 0; i < data.length && seen.size < 50; i += 4) {
                seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
            }
            return seen.size;
        }""")

    def point(self, x: float, y: float) -> None:
        self.page.mouse.move(self.box["x"] + x - 3, self.box["y"] + y)
        self.page.mouse.move(self.box["x"] + x, self.box["y"] + y)
        self.settle()

    def card(self) -> str:
        card = self.page.locator(".gp-card")
        return card.inner_text() if card.is_visible() else ""

    def point_at(self, name: str) -> tuple[float, float]:
        """Moves to what is in the middle of the view and has that name; its place on the canvas."""
        x = 138 + (self.box["width"] - 138) / 2
        for y in range(56, int(self.box["height"]), 7):
            self.point(x, y)
            if self.card().startswith(name):
                return x, y
        raise AssertionError(f"nothing called {name} in the middle")
