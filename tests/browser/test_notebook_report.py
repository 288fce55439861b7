"""The paper with everything stripped that an untrusted notebook strips, in the browser; and the page as it prints."""

from __future__ import annotations

import pytest

from gpuprof.views.notebook_report import render_bundle
from tests.support.reports import device_report, with_findings
from tests.support.sanitiser import sanitised

pytestmark = pytest.mark.browser

COLUMN = '<!doctype html><meta charset="utf-8"><body style="font:14px/1.4 sans-serif;margin:12px">{}'


@pytest.mark.parametrize("width", [1100, 700])
def test_stripped_of_everything_it_fits_its_column(browser, screenshots, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.set_content(COLUMN.format(sanitised(render_bundle(with_findings(device_report()))["text/html"])))
    assert page.locator("[style], [class], script, iframe, svg").count() == 1  # the body's own style
    page.locator("summary").first.click()
    assert page.locator("img").evaluate("image => image.complete && image.naturalWidth") == 1200
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    page.screenshot(path=screenshots / f"paper-stripped-{width}.png", full_page=True)
    page.close()


def test_the_page_prints_light_and_unfolded(open_page, screenshots):
    opened = open_page(with_findings(device_report()), color_scheme="dark", width=800)
    opened.page.emulate_media(media="print")
    opened.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.page.locator("details:not([open])").count() == 1  # the appendix
    assert opened.page.locator(".panel:visible").count() == opened.page.locator(".panel").count()
    for control in ("#theme", ".tabs", "[data-finding]"):
        assert not opened.page.locator(control).first.is_visible(), control
    opened.page.screenshot(path=screenshots / "page-print.png", full_page=True)
    opened.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate("() => document.documentElement.dataset.theme") is None
    assert opened.page.locator("details[open]").count() == 0
