"""HoloViews objects show in a notebook without a network, and BokehJS stands there once."""

import re
from types import SimpleNamespace

import pytest

from gpuprof.views.charts import offline
from gpuprof.views.charts.plots import draw
from tests.support.reports import NASTY, device_report


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(offline, "_carrier", None)


def shell(cell: str | None, count: int) -> SimpleNamespace:
    metadata = {} if cell is None else {"cellId": cell}
    return SimpleNamespace(execution_count=count, get_parent=lambda: {"metadata": metadata})


def carries(page: str) -> bool:
    return len(page) > 300_000


def test_the_library_stands_in_one_output_and_again_when_its_cell_runs_anew():
    chart = draw(device_report(), "steps")
    shown = [offline.html(chart, shell(cell, count)) for cell, count in (("a", 1), ("a", 1), ("b", 2), ("a", 3))]
    assert [carries(page) for page in shown] == [True, False, False, True]
    assert all(len(page) < 60_000 for page in shown if not carries(page))


def test_without_ids_of_cells_the_first_execution_carries_it():
    chart = draw(device_report(), "steps")
    assert [carries(offline.html(chart, shell(None, count))) for count in (4, 4, 5)] == [True, False, False]


def test_composed_plots_are_shown_too_and_nothing_names_a_server():
    report = device_report()
    page = offline.html(draw(report, "memory") + draw(report, "steps"), shell("b", 2))
    assert page.count("<script>") == 1 + offline.frame.script().count("<script>")
    page = offline.html(draw(report, "memory") * draw(report, "steps"), shell("c", 3))
    assert not carries(page)
    assert "cdn." not in page and not re.findall(r"(?:src|href|url)\W{1,3}https?:", page)


def test_a_name_cannot_end_the_script():
    page = offline.html(draw(device_report(name=NASTY), "kernels"), shell("d", 4))
    assert page.count("</script>") == 1 and page.endswith("</script>")
    assert "<img" not in page


def test_where_holoviews_was_loaded_it_shows_them_itself(monkeypatch):
    import holoviews as hv

    monkeypatch.setattr(hv.extension, "_loaded", True)
    assert offline.html(draw(device_report(), "steps"), shell("e", 5)) is None


def test_what_needs_a_kernel_is_left_to_holoviews():
    import holoviews as hv

    chart = draw(device_report(), "steps")
    assert offline.html(hv.HoloMap({1: chart, 2: chart}), shell("f", 6)) is None
