"""A cell that runs again leaves no widget and no run of its past behind; where widgets are not shown, words stand."""

from __future__ import annotations

import time

import pytest

from tests.support.kernel import LiveKernel

pytestmark = pytest.mark.kernel

PROFILED = "%%gpuprofile\nx = torch.ones(64, 64)\n(x @ x).sum().item()"
LOOK = """
import gc
from ipywidgets.widgets import widget as _registry
from gpuprof.report import Report
gc.collect()
len(_registry._instances), sum(isinstance(each, Report) for each in gc.get_objects())"""


def counted(kernel: LiveKernel) -> tuple[int, int]:
    widgets, reports = kernel.run(LOOK).values[-1].strip("()").split(",")
    return int(widgets), int(reports)


def settled(kernel: LiveKernel, reports: int) -> int:
    """How many widgets there are, once what threads still close is closed."""
    before = -1
    for _ in range(20):
        widgets, found = counted(kernel)
        if (widgets, found) == (before, reports):
            break
        before = widgets
        time.sleep(0.5)
    return widgets


def test_running_again_leaves_nothing_of_before(kernel: LiveKernel) -> None:
    # GIVEN the dashboards of two cells
    kernel.run(PROFILED, live=True)
    kernel.run(PROFILED.replace("64", "32"), live=True)
    widgets, reports = counted(kernel)
    assert widgets > 10 and reports == 2
    # WHEN one of them runs again and again
    levels = [widgets]
    for _ in range(6):
        for _ in range(3):
            kernel.run(PROFILED, live=True)
        levels.append(settled(kernel, reports))
        # THEN there are two still, and no more widgets than before. A run may have a finding more than another one, and
        # then has its buttons; what is left behind grows each time.
        if levels[-1] <= max(levels[:-1]):
            break
    assert levels[-1] <= max(levels[:-1]), levels
    assert counted(kernel)[1] == reports


def test_where_widgets_are_not_shown_words_stand_and_the_report_is_whole(kernel: LiveKernel) -> None:
    ran = kernel.run(PROFILED, live=True)
    _, place, report = ran.displays  # the status bar's output comes first, and is empty by then
    assert "need a live kernel and widgets; see the report below" in place["text/plain"]
    assert "Where the time went" in report["text/plain"]


def test_a_dashboard_by_hand_is_closed_with_all_it_holds(kernel: LiveKernel) -> None:
    before = counted(kernel)
    kernel.run("widget = gpuprof.last().widget()")
    assert counted(kernel)[0] > before[0]
    kernel.run("widget.close()\ndel widget")
    assert counted(kernel)[0] == before[0]
