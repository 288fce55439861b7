"""Charts as they stand in a notebook: a frame of their own, drawn by Bokeh."""

from __future__ import annotations

import pytest

from gpuprof.views.charts import frame, offline
from gpuprof.views.charts.plots import draw
from tests.support.reports import device_report

pytestmark = pytest.mark.browser

PAGE = '<!doctype html><meta charset="utf-8"><body style="width:900px;color:#222;background:#fff">{}'
EDGES = """() => {
    const found = {};
    const walk = (root) => {
        for (const each of root.querySelectorAll("*")) {
            if (each.matches(".bk-Legend")) found.legend = each.getBoundingClientRect().bottom;
            if (each.matches(".bk-CanvasPanel.bk-above")) found.above = each.getBoundingClientRect().bottom;
            if (each.shadowRoot) walk(each.shadowRoot);
        }
    };
    walk(document);
    return found;
}"""


@pytest.mark.parametrize("name", ["memory", "steps", "transfers"])
def test_the_legend_stands_above_the_chart_from_the_first_frame(browser, tmp_path, screenshots, name):
    path = tmp_path / "chart.html"
    path.write_text(PAGE.format(offline.drawn(frame.bokeh_item(draw(device_report(), name)), carries=True)), "utf-8")
    page = browser.new_page(viewport={"width": 940, "height": 400})
    page.goto(path.as_uri())
    chart = page.locator("iframe[data-drawn=yes]")
    chart.wait_for()
    page.wait_for_timeout(400)  # Bokeh lays out twice
    edges = chart.element_handle().content_frame().evaluate(EDGES)
    page.screenshot(path=screenshots / f"chart-{name}.png")
    assert 0 < edges["legend"] <= edges["above"]
    page.close()
