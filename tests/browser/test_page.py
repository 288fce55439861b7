"""The exported page in a real Chromium, from disk, with every request watched."""

from __future__ import annotations

import html

import pytest

from gpuprof.views.html import render_page
from tests.support.reports import NASTY, device_report, host_report, nasty_report, with_findings

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 1100), ("light", 700), ("dark", 700)])
def test_it_opens_from_disk_asks_for_nothing_and_draws(open_page, screenshots, scheme, width):
    opened = open_page(with_findings(device_report()), color_scheme=scheme, width=width)
    assert opened.requests == [opened.path.as_uri()]
    assert opened.complaints == []
    assert opened.colours() > 10
    wide = opened.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    opened.page.screenshot(path=screenshots / f"page-{scheme}-{width}.png", full_page=True)


def test_wheel_drag_and_keys_change_the_picture(open_page):
    opened = open_page(device_report())
    whole = opened.picture()
    opened.point(400, 100)
    opened.page.mouse.wheel(0, -600)
    opened.point(400, -30)
    zoomed = opened.picture()
    assert zoomed != whole
    opened.point(400, 200)
    opened.page.mouse.down()
    opened.page.mouse.move(opened.box["x"] + 300, opened.box["y"] + 100, steps=4)
    opened.page.mouse.up()
    opened.point(400, -30)
    dragged = opened.picture()
    assert dragged not in (zoomed, whole)
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("Home")
    home = opened.picture()
    for key in ("+", "ArrowRight", "-"):
        before = opened.picture()
        opened.page.keyboard.press(key)
        assert opened.picture() != before, key
    opened.page.keyboard.press("Home")
    assert opened.picture() == home
    assert opened.complaints == []


def test_a_page_that_scrolls_under_the_pointer_does_not_zoom(open_page):
    opened = open_page(with_findings(device_report()))
    page = opened.page
    page.set_viewport_size({"width": 1100, "height": 500})
    page.mouse.move(500, 250)
    whole = opened.picture()
    page.evaluate("() => scrollTo(0, 0)")
    for _ in range(30):
        page.mouse.wheel(0, 60)
        opened.settle()
    assert page.evaluate("() => scrollY") > 600
    page.mouse.move(0, 0)
    assert opened.picture() == whole


def test_the_card_names_the_kernel_and_its_launch_as_text(open_page, screenshots):
    opened = open_page(device_report(name=NASTY, steps=2))
    opened.page.get_by_label("Search the timeline by name").fill("onerror")
    assert "120 found" in opened.page.locator(".gp-count").inner_text()
    opened.page.get_by_label("Next match").click()
    x, y = opened.point_at(NASTY)
    assert "1 of 120" in opened.page.locator(".gp-count").inner_text()
    card = opened.card()
    assert NASTY in card
    assert "duration\n950 µs" in card
    assert "launched" in card and "aten::conv2d" in card
    opened.page.mouse.click(opened.box["x"] + x, opened.box["y"] + y)
    opened.page.screenshot(path=screenshots / "page-card.png")
    assert opened.page.locator("img").count() == 0
    assert opened.complaints == []


def test_no_name_is_markup_in_any_tab(open_page, screenshots):
    opened = open_page(nasty_report())
    tabs = opened.page.get_by_role("tab")
    for name in tabs.all_inner_texts():
        opened.page.get_by_role("tab", name=name, exact=True).click()
        assert opened.page.locator("img, script:not([type])").count() == 0
    assert NASTY in opened.page.locator("h1, .facts").all_inner_texts()[0].replace("\u00a0", " ")
    opened.page.get_by_role("tab", name="Kernels & operators").click()
    assert opened.page.locator(".panel:visible th", has_text=NASTY).count() >= 2
    opened.page.screenshot(path=screenshots / "page-nasty.png", full_page=True)
    assert opened.complaints == []


def test_a_finding_is_shown_in_the_timeline(open_page, screenshots):
    opened = open_page(with_findings(device_report()))
    whole = opened.picture()
    opened.page.get_by_role("tab", name="Device").click()
    opened.page.get_by_role("button", name="show in timeline").click()
    assert opened.page.get_by_role("tab", name="Timeline").get_attribute("aria-selected") == "true"
    assert opened.picture() != whole
    opened.page.screenshot(path=screenshots / "page-finding.png")


def test_the_legend_hides_a_kind(open_page):
    opened = open_page(device_report())
    before = opened.picture()
    kernels = opened.page.get_by_role("button", name="kernels", exact=True)
    kernels.click()
    assert kernels.get_attribute("aria-pressed") == "false"
    assert opened.picture() != before
    kernels.click()
    assert opened.picture() == before


def test_every_tab_shows_its_panel_and_tables_sort(open_page, screenshots):
    opened = open_page(device_report())
    for name in ("Transfers", "Memory", "Kernels & operators", "Device", "Environment"):
        opened.page.get_by_role("tab", name=name).click()
        panels = opened.page.locator(".panel:visible")
        assert panels.count() == 1
        assert panels.get_attribute("data-title") == name
        assert len(panels.inner_text()) > 40
        opened.page.screenshot(path=screenshots / f"page-tab-{name.split()[0].lower()}.png", full_page=True)
    opened.page.get_by_role("tab", name="Kernels & operators").click()
    names = lambda: opened.page.locator(".panel:visible table").last.locator("tbody th").all_inner_texts()  # noqa: E731
    opened.page.get_by_role("button", name="operator", exact=True).click()
    assert names() == ["aten::conv2d", "aten::item"]
    opened.page.get_by_role("button", name="operator", exact=True).click()
    assert names() == ["aten::item", "aten::conv2d"]


def test_the_theme_can_be_switched(open_page):
    opened = open_page(device_report(), color_scheme="light")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light, picture = opened.page.evaluate(ground), opened.picture()
    opened.page.get_by_role("button", name="dark page").click()
    assert opened.page.evaluate(ground) != light
    assert opened.picture() != picture


def test_a_run_without_a_device_is_drawn_too(open_page, screenshots):
    opened = open_page(host_report())
    assert opened.complaints == []
    assert opened.colours() > 5
    opened.page.screenshot(path=screenshots / "page-host.png", full_page=True)


def test_print_shows_every_panel(open_page):
    opened = open_page(device_report())
    opened.page.emulate_media(media="print")
    tabs = opened.page.get_by_role("tab").count() or opened.page.locator("[role=tab]").count()
    assert opened.page.locator(".panel:visible").count() == tabs >= 7


def test_it_works_folded_into_a_notebook(browser, screenshots):
    report = with_findings(device_report())
    page = browser.new_page(viewport={"width": 900, "height": 800})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    source = html.escape(render_page(report, most_bytes=750_000))
    page.set_content(f'<iframe sandbox="allow-scripts" width="860" height="760" srcdoc="{source}"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator(".gp-canvas").wait_for()
    frame.get_by_role("button", name="show in timeline").click()
    frame.get_by_role("tab", name="Transfers").click()
    assert frame.locator(".panel:visible").get_attribute("data-title") == "Transfers"
    frame.get_by_role("tab", name="Timeline").click()
    page.screenshot(path=screenshots / "page-in-frame.png")
    assert complaints == []
    page.close()
