"""The static picture: true, small, and without a trace in the user's Matplotlib."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from gpuprof.analyses.basics.result import Results
from gpuprof.views.static_png.draw import WIDTH, render_picture
from gpuprof.views.static_png.lanes import lanes
from gpuprof.views.theme import BUDGET
from tests.support.reports import device_report, empty_report, host_report
from tests.support.trace_builder import TraceBuilder


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


def test_a_colour_of_which_there_is_little_stays_what_it_is():
    # GIVEN a run that hardly waits for the device, beside much else
    report = device_report()
    image = pixels(report)
    for kind in (BUDGET["idle_sync"], BUDGET["idle_input"], BUDGET["exposed_copy"]):
        exact = np.array([int(kind.light[i : i + 2], 16) for i in (1, 3, 5)])
        assert (image == exact).all(axis=2).sum() > 50, kind.key


def test_the_legend_names_only_what_is_drawn():
    trace = TraceBuilder().operator("aten::mm", 0, 50).kernel("sgemm", 50, 30, launch_at_us=40).build()
    thread = lanes(trace, Results(trace))[-1]
    assert thread.label == "main thread" and set(thread.parts) == {"operator"}


def test_a_trace_of_the_device_alone_is_drawn_without_the_host():
    results = Results(TraceBuilder().kernel("gemm", 0, 10).kernel("gemm", 20, 10).build())
    assert "main thread" not in [lane.label for lane in lanes(results.trace, results)]
    assert render_picture(results.trace, results)


def test_nothing_recorded_gives_no_picture():
    report = empty_report()
    assert render_picture(report.trace, report.results) is None


def test_every_shared_trace_is_drawn_small(any_shared_trace):
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
from gpuprof.analyses.basics.result import Results
from gpuprof.views.static_png.draw import render_picture
report = device_report()
one = render_picture(report.trace, report.results)
copied = matplotlib.rcParams.copy()
assert all(copied._get(key) == before._get(key) for key in before)
assert "matplotlib.pyplot" not in sys.modules
matplotlib.rcdefaults()
assert render_picture(report.trace, report.results) == one
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=".")
