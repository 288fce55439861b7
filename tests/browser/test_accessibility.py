"""The exported page has no fault that axe-core calls serious or critical: light and dark, in every tab."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

import gpuprof
from gpuprof.views import tables
from gpuprof.views.dashboard.live_card import Insertion, LiveCard
from gpuprof.views.notebook_report import render_bundle
from tests.support.reports import device_report, host_report, with_findings

pytestmark = pytest.mark.browser

RECORDING = Path(__file__).parents[1] / "data" / "cpu-training"
GRAVE = ("serious", "critical")
FAULTS = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    const places = (nodes) => nodes.slice(0, 5).map(({ target, failureSummary }) => [target.join(" "), failureSummary]);
    return violations.map(({ id, impact, help, nodes }) => ({ id, impact, help, where: places(nodes) }));
}"""


def no_action(number: int) -> Insertion:
    return Insertion("", f"nothing for {number}")


@pytest.fixture(scope="module")
def axe() -> str:
    """axe-core as one script, from the package that brings it."""
    pytest.importorskip("axe_playwright_python", reason="axe-core is missing: install gpuprof with its test extra")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("make", [device_report, host_report])
def test_no_tab_has_a_serious_fault(open_page, axe, make, scheme):
    # the page's own policy forbids axe-core's script, too
    opened = open_page(with_findings(make()), color_scheme=scheme, bypass_csp=True)
    assert _grave(opened, axe) == {}


def test_nor_has_the_page_of_a_recording_with_lines(open_page, axe):
    assert _grave(open_page(gpuprof.load(RECORDING).report_data, bypass_csp=True), axe) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nor_has_the_card_live_or_saved(browser, axe, scheme):
    report = with_findings(device_report())
    live = LiveCard(report, actions={"fix": no_action, "try": no_action}).card.html
    shown = f'<div class="gpuprof-sheet">{live}</div>{render_bundle(report)["text/html"]}'
    paint = "background:#111;color:#ddd" if scheme == "dark" else ""
    page = browser.new_page()
    page.set_content(
        f'<!doctype html><html lang="en"><title>t</title><body data-jp-theme-light="{str(scheme == "light").lower()}" '
        f'style="{paint}"><main><style>.gpuprof-sheet {{{tables.style()}}}</style>{shown}</main>'
    )
    page.evaluate("() => { for (const folded of document.querySelectorAll('details')) folded.open = true; }")
    page.evaluate(axe)
    assert [fault for fault in page.evaluate(FAULTS) if fault["impact"] in GRAVE] == []
    page.close()


def test_a_fault_would_be_seen(open_page, axe):
    opened = open_page(host_report(), bypass_csp=True)
    opened.page.evaluate("() => { document.querySelector('.advice').style.color = '#ddd'; }")
    assert [fault["id"] for fault in _grave(opened, axe)["Memory"]] == ["color-contrast"]


def _grave(opened, axe: str) -> dict[str, list]:
    """The grave faults of each tab, everything unfolded."""
    opened.page.evaluate(axe)
    opened.page.evaluate("() => { for (const folded of document.querySelectorAll('details')) folded.open = true; }")
    found = {}
    tabs = opened.page.get_by_role("tab")
    assert tabs.count() >= 6
    for name in tabs.all_inner_texts():
        opened.page.get_by_role("tab", name=name, exact=True).click()
        faults = [fault for fault in opened.page.evaluate(FAULTS) if fault["impact"] in GRAVE]
        if faults:
            found[name] = faults
    return found
