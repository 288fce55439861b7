"""Mouse, keyboard and fingers on the timeline of the exported page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.model.context import Cell
from gpuprof.report import Report
from tests.support.reports import NASTY, device_report, host_report, with_findings
from tests.support.trace_builder import TraceBuilder

pytestmark = pytest.mark.browser

STATUS = ".gp-status"
SOURCE = f"%%gpuprofile\nlosses = model(x) # {NASTY}\nlosses.backward()"


def detailed_report() -> Report:
    """One step whose kernels know their grid, inputs and line; every name of it is hostile."""
    builder = TraceBuilder().context(cell=Cell(source=SOURCE, execution_count=7, name=NASTY)).device(0, "Tesla V100")
    builder.step(0, 10_000).line(2, 0).operator(f"aten::{NASTY}", 100, 8_000, dims="[[32, 64, 56, 56], [64, 64, 3, 3]]")
    builder.copy("h2d", 200, 900, bytes=8_000_000, host_memory="pageable", launch_at_us=150)
    for number in range(6):
        facts = {"blocks": 4_096, "block_threads": 256, "occupancy_percent": 62.0}
        builder.kernel(NASTY, 1_500 + 1_300 * number, 1_100, launch_at_us=1_000 + 1_000 * number, **facts)
    return Report.of(builder.build())


def select(opened, x0, x1, y=90):
    box = opened.box
    opened.page.keyboard.down("Shift")
    drag(opened, x0, x1, y)
    opened.page.keyboard.up("Shift")
    return box


def drag(opened, x0, x1, y):
    opened.point(x0, y)
    opened.page.mouse.down()
    opened.page.mouse.move(opened.box["x"] + x1, opened.box["y"] + y, steps=5)
    opened.page.mouse.up()
    opened.settle()


def panel(opened):
    return opened.page.get_by_role("region", name="Sum of the selected range")


def status(opened):
    return opened.page.locator(STATUS).inner_text()


def on_canvas(opened):
    return opened.page.evaluate("() => document.activeElement.classList.contains('gp-canvas')")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 700)])
def test_a_selected_range_is_summed_up_as_text(open_page, screenshots, scheme, width):
    opened = open_page(with_findings(device_report(name=NASTY)), color_scheme=scheme, width=width)
    whole = opened.picture()
    select(opened, width * 0.3, width * 0.7)
    words = panel(opened).inner_text()
    for heading in ("Device", "Kernels, times added", "Copies, each counted whole", "Main thread"):
        assert opened.page.get_by_role("table", name=heading).count() == 1
    assert NASTY in words and "idle: waiting for data" in words and "host to device, pageable" in words
    assert NASTY in status(opened) and "the device is busy" in status(opened)
    assert opened.picture() != whole
    opened.page.locator(".gp-timeline").screenshot(path=screenshots / f"timeline-sum-{scheme}-{width}.png")
    wide = opened.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    opened.page.get_by_role("button", name="Close the sum").click()
    assert panel(opened).count() == 0
    assert on_canvas(opened)
    opened.point(400, -30)
    assert opened.page.locator("img").count() == 0
    assert opened.complaints == []


def test_a_drag_along_the_axis_selects_and_escape_closes(open_page):
    opened = open_page(device_report())
    drag(opened, 300, 600, 40)
    assert panel(opened).is_visible()
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("Escape")
    assert panel(opened).count() == 0


def test_the_keyboard_sums_up_what_is_in_view(open_page, screenshots):
    opened = open_page(host_report())
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("s")
    rows = opened.page.get_by_role("table", name="Operators, time of their own").locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["aten::linear", "90.0 ms", "3"], ["aten::add_", "39.0 ms", "3"]]
    assert "device" not in panel(opened).inner_text().lower()
    opened.page.locator(".gp-timeline").screenshot(path=screenshots / "timeline-sum-host.png")


def test_a_range_before_the_recording_says_what_was_recorded_of_it(open_page):
    opened = open_page(device_report())
    select(opened, 140, 160)  # the wait that precedes the first operator, launch and copy
    assert "Device" not in panel(opened).inner_text() and "device" not in status(opened)
    select(opened, 140, 400)
    assert "ms recorded" in panel(opened).inner_text()
    assert "recorded" in status(opened)


def test_tab_walks_the_findings_and_then_leaves(open_page):
    report = with_findings(device_report())
    wait, file = report.findings
    report = replace(report, findings=(file, wait, replace(wait, title="Another", rule="sync_in_step")))
    opened = open_page(report)
    canvas = opened.page.locator(".gp-canvas")
    whole = opened.picture()
    opened.page.get_by_role("button", name="Sum up what is in view").focus()
    for expected in ("", "Finding 1 of 2, place 1 of 6: The GPU waits", "Finding 2 of 2, place 1 of 6: Another"):
        opened.page.keyboard.press("Tab")
        assert on_canvas(opened)
        assert expected in status(opened)
    assert opened.picture() != whole
    opened.page.keyboard.press("]")
    assert "place 2 of 6" in status(opened)
    opened.page.keyboard.press("Tab")
    assert not on_canvas(opened)
    for expected in ("Finding 2", "Finding 2", "Finding 1"):
        opened.page.keyboard.press("Shift+Tab")
        assert on_canvas(opened)
        assert expected in status(opened)
    opened.page.keyboard.press("Shift+Tab")
    assert not on_canvas(opened)
    canvas.focus()
    opened.page.keyboard.press("f")
    assert "Finding 1 of 2" in status(opened)


def test_a_card_of_a_finding_leads_to_its_own_places(open_page):
    report = with_findings(device_report())
    wait, file = report.findings
    opened = open_page(replace(report, findings=(file, wait)))
    opened.page.get_by_role("button", name="show in timeline").click()
    assert "Finding 1 of 1, place 1 of 6: The GPU waits for the DataLoader" in status(opened)
    assert opened.complaints == []


def test_without_findings_tab_passes_by(open_page):
    opened = open_page(replace(device_report(), findings=()))
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("Tab")
    assert not on_canvas(opened)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 700)])
def test_the_card_says_all_that_was_recorded_as_text(open_page, screenshots, scheme, width):
    opened = open_page(detailed_report(), color_scheme=scheme, width=width)
    opened.page.get_by_label("Search the timeline by name").fill("</SCRIPT>")
    opened.page.get_by_label("Next match").click()
    opened.point_at(NASTY)
    words = opened.card()
    for part in (
        NASTY,
        "duration\n1.10 ms",
        "stream 7 of device 0 (Tesla V100)",
        "grid\n4,096 blocks of 256 threads",
        "occupancy\n62 %, estimated",
        f"operator\naten::{NASTY}",
        "inputs\n32×64×56×56, 64×64×3×3",
        f"cell line\n2: losses = model(x) # {NASTY}",
        "launched",
    ):
        assert part in words, part
    opened.page.screenshot(path=screenshots / f"timeline-card-{scheme}-{width}.png")
    card = opened.page.locator(".gp-card").bounding_box()
    assert card["x"] >= 0 and card["x"] + card["width"] <= width
    assert card["y"] >= 0 and card["y"] + card["height"] <= 900
    assert opened.page.locator("img").count() == 0
    assert opened.complaints == []


def test_a_copy_says_its_size_and_bandwidth(open_page):
    opened = open_page(detailed_report())
    opened.page.get_by_label("Search the timeline by name").fill("memcpy")
    opened.page.get_by_label("Next match").click()
    opened.point_at("Memcpy")
    assert "size\n7.63 MiB" in opened.card()
    assert "bandwidth\n8.89 GB/s" in opened.card()
    assert "host memory\npageable" in opened.card()


def test_a_click_draws_the_way_from_launch_to_kernel(open_page, screenshots):
    opened = open_page(detailed_report())
    accent = """() => {
        const canvas = document.querySelector(".gp-canvas");
        const { data } = canvas.getContext("2d").getImageData(150, 56, canvas.width - 150, canvas.height - 56);
        let found = 0;
        for (let i = 0; i < data.length; i += 4)
            if (data[i] === 0x1a && data[i + 1] === 0x6f && data[i + 2] === 0xc9) found += 1;
        return found;
    }"""
    kernels = opened.page.get_by_role("button", name="kernels", exact=True)
    opened.page.get_by_label("Search the timeline by name").fill("cudaLaunch")
    opened.page.get_by_label("Next match").click()
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("Home")
    opened.point(400, -30)
    kernels.click()  # they have the colour of the line
    linked = opened.page.evaluate(accent)
    opened.page.locator(".gp-timeline").screenshot(path=screenshots / "timeline-link.png")
    opened.page.locator(".gp-canvas").focus()
    opened.page.keyboard.press("Escape")
    opened.settle()
    assert linked > 8
    assert opened.page.evaluate(accent) == 0


def test_the_whole_run_at_the_top_moves_the_view(open_page):
    opened = open_page(device_report())
    opened.page.locator(".gp-canvas").focus()
    for _ in range(4):
        opened.page.keyboard.press("+")
    opened.point(400, -30)
    middle = opened.picture()
    opened.page.mouse.click(opened.box["x"] + 900, opened.box["y"] + 15)
    opened.point(400, -30)
    assert opened.picture() != middle


def test_two_fingers_zoom_and_one_moves(open_page):
    opened = open_page(device_report(), has_touch=True)
    box, whole = opened.box, opened.picture()
    touch = opened.page.context.new_cdp_session(opened.page)

    def fingers(kind, *xs):
        points = [{"x": box["x"] + x, "y": box["y"] + 120, "id": number} for number, x in enumerate(xs)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 500, 600)
    for spread in (20, 60, 120):
        fingers("touchMove", 500 - spread, 600 + spread)
    fingers("touchEnd")
    zoomed = opened.picture()
    assert zoomed != whole
    assert status(opened) == ""
    fingers("touchStart", 500)
    for step in (480, 440, 400):
        fingers("touchMove", step)
    fingers("touchEnd")
    assert opened.picture() not in (zoomed, whole)


def test_a_fine_screen_gets_fine_pixels(open_page, screenshots):
    opened = open_page(with_findings(device_report()), device_scale_factor=2)
    size = "() => { const c = document.querySelector('.gp-canvas'); return [c.width, c.clientWidth]; }"
    pixels, wide = opened.page.evaluate(size)
    assert pixels == 2 * wide
    opened.page.locator(".gp-timeline").screenshot(path=screenshots / "timeline-fine.png")
