"""The static picture: true, small, and without a trace in the user's Matplotlib."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from gpuprof.views.picture.draw import WIDTH, render_picture
from gpuprof.views.picture.lanes import lanes
from gpuprof.views.theme import BUDGET
from tests.support.reports import device_report, empty_report, host_report


def pixels(report):
    png = render_picture(report.trace, report.results)
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)


def near(image, colour):
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return np.abs(image - wanted).max(axis=2) <= 6


@pytest.mark.parametrize("make", [device_report, host_report])
def test_the_bar_gives_every_kind_of_time_its_width(make):
    report = make()
    row = pixels(report)[26:27]  # above every label
    for entry in report.budget.entries:
        if entry.share > 0.02:
            drawn = near(row, BUDGET[entry.category].light).sum() / (WIDTH - 40)
            assert drawn == pytest.approx(entry.share, abs=0.004), entry.category


def test_lanes_are_the_budget_the_streams_and_the_main_thread():
    report = device_report()
    shown = lanes(report.trace, report.results)
    assert [lane.label for lane in shown] == ["where the time went", "stream 7", "main thread"]
    budget, stream, thread = shown
    assert sum(part.total_ns for part in budget.parts.values()) == report.trace.span_ns
    assert set(stream.parts) == {"kernel", "copy"}
    assert {"input_wait", "sync", "operator"} <= set(thread.parts)


def test_nothing_recorded_gives_no_picture():
    report = empty_report()
    assert render_picture(report.trace, report.results) is None


def test_every_shared_trace_is_drawn_small(any_shared_trace):
    from gpuprof.analyses.result import Results

    png = render_picture(any_shared_trace, Results(any_shared_trace))
    assert png is not None
    assert len(png) < 80_000
    assert Image.open(io.BytesIO(png)).width == WIDTH


def test_the_users_matplotlib_is_left_alone():
    code = """
import sys, matplotlib
matplotlib.rcParams["font.size"] = 33
matplotlib.rcParams["axes.facecolor"] = "red"
before = matplotlib.rcParams.copy()
from tests.support.reports import device_report
from gpuprof.views.picture.draw import render_picture
report = device_report()
one = render_picture(report.trace, report.results)
copied = matplotlib.rcParams.copy()
assert all(copied._get(key) == before._get(key) for key in before)
assert "matplotlib.pyplot" not in sys.modules
matplotlib.rcdefaults()
assert render_picture(report.trace, report.results) == one
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=".")
