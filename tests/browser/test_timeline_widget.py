"""The widget's module in a real browser, with a model as anywidget gives it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import MS, NASTY, device_report, with_findings

pytestmark = pytest.mark.browser

HOST = """<!doctype html><meta charset="utf-8"><style>%s</style><div id="host"></div><script type="module">
import widget from "./widget.js";
const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
// One byte off: the comm's buffers begin anywhere.
const moved = new Uint8Array(bytes.length + 1);
moved.set(bytes, 1);
const state = { payload: %s, buffer: new DataView(moved.buffer, 1), focus_ranges: [] };
const handlers = {};
const model = { get: (key) => state[key], on: (type, f) => (handlers[type] = f), off: (type) => delete handlers[type] };
window.close_widget = await widget.render({ model, el: document.getElementById("host") });
window.set_ranges = (ranges) => { state.focus_ranges = ranges; handlers["change:focus_ranges"](); };
window.left = () => Object.keys(handlers).length;
</script>"""


@pytest.fixture
def page(browser: Any, request: Any) -> Any:
    report = with_findings(device_report(name=getattr(request, "param", "sgemm")))
    widget = TimelineWidget(report.trace, report=report)
    payload = json.dumps(widget.payload).replace("<", "\\u003c")
    host = HOST % (widget._css, base64.b64encode(widget.buffer).decode(), payload)
    page = browser.new_page(viewport={"width": 900, "height": 700})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.route("**/widget.js", lambda route: route.fulfill(body=widget._esm, content_type="text/javascript"))
    page.route("**/host.html", lambda route: route.fulfill(body=host, content_type="text/html"))
    page.goto("http://widget.test/host.html")
    page.wait_for_selector(".gp-canvas")
    yield page
    page.close()
    assert complaints == []


def picture(page: Any) -> bytes:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator(".gp-canvas").screenshot()


def test_it_draws_zooms_to_ranges_and_cleans_up(page, screenshots):
    whole = picture(page)
    page.screenshot(path=screenshots / "timeline-widget.png")
    page.evaluate("(ranges) => window.set_ranges(ranges)", [[58 * MS, 80 * MS]])
    assert picture(page) != whole
    page.evaluate("() => window.close_widget()")
    assert page.locator(".gp-timeline").count() == 0
    assert page.evaluate("() => window.left()") == 0


@pytest.mark.parametrize("page", [NASTY], indirect=True)
def test_a_hostile_name_stays_text_in_search_card_and_sum(page, screenshots):
    page.get_by_label("Search the timeline by name").fill("onerror")
    assert "360 found" in page.locator(".gp-count").inner_text()
    page.get_by_label("Next match").click()
    assert NASTY in page.locator(".gp-status").inner_text()
    box = page.locator(".gp-canvas").bounding_box()
    for y in range(60, int(box["height"]), 6):
        page.mouse.move(box["x"] + 138 + (box["width"] - 138) / 2, box["y"] + y)
        picture(page)
        card = page.locator(".gp-card")
        if card.is_visible() and card.inner_text().startswith(NASTY):
            break
    else:
        raise AssertionError("no card of the kernel")
    page.locator(".gp-canvas").focus()
    page.keyboard.press("s")
    assert NASTY in page.get_by_role("region", name="Sum of the selected range").inner_text()
    for _ in range(2):
        page.keyboard.press("f")
    page.screenshot(path=screenshots / "timeline-widget-sum.png", full_page=True)
    assert page.locator("img").count() == 0
