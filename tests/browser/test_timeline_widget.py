"""The widget's module in a real browser, with a model as anywidget gives it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import MS, device_report

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
def page(browser: Any) -> Any:
    widget = TimelineWidget(device_report().trace)
    payload = json.dumps(widget.payload).replace("<", "\\u003c")
    host = HOST % (widget._css, base64.b64encode(widget.buffer).decode(), payload)
    page = browser.new_page(viewport={"width": 900, "height": 700})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
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
