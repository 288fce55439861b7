"""Long tables in the page show their first rows; sorting, filtering and printing reach the others."""

from __future__ import annotations

import pytest

from gpuprof.report import Report
from tests.support.trace_builder import TraceBuilder

pytestmark = pytest.mark.browser


@pytest.fixture
def kernels(open_page):
    """The panel of a run with forty kernels, k0 the shortest."""
    builder = TraceBuilder().device(0, "Tesla V100").thread("main", main=True)
    for number in range(40):
        builder.kernel(f"void k{number}<float>(int)", number * 100.0, number + 1.0, launch_at_us=number * 100.0 - 5)
    opened = open_page(Report.of(builder.build()))
    opened.page.get_by_role("tab", name="Kernels & operators").click()
    return opened.page.locator("#panel-kernels")


def shown(panel) -> list[str]:
    return panel.locator("tbody tr:visible th").all_inner_texts()


def test_a_long_table_begins_with_its_first_rows_and_shows_all_when_asked(kernels):
    assert shown(kernels) == [f"k{number}<float>" for number in range(39, 19, -1)]
    kernels.get_by_role("button", name="show all 40 rows").click()
    assert len(shown(kernels)) == 40
    kernels.get_by_role("button", name="show the first 20 rows").click()
    assert len(shown(kernels)) == 20


def test_sorting_and_filtering_reach_the_folded_rows(kernels):
    head = kernels.get_by_role("button", name="total time")
    head.click()
    head.click()
    assert shown(kernels)[:2] == ["k0<float>", "k1<float>"]
    kernels.get_by_role("searchbox").fill("k3")
    assert len(shown(kernels)) == 11
    assert kernels.get_by_role("status").inner_text() == "11 of 40 rows"


def test_paper_gets_every_row_and_a_name_is_whole_when_pointed_at(kernels):
    assert kernels.locator("tbody th span").first.get_attribute("title") == "void k39<float>(int)"
    kernels.page.emulate_media(media="print")
    assert len(shown(kernels)) == 40
    assert not kernels.locator(".more").is_visible()
