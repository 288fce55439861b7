"""Every chart is drawn for every run, says in words what is missing, and reaches the browser without a network."""

import json

import numpy as np
import pytest

from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.errors import UsageError
from gpuprof.report import Report
from gpuprof.views.charts import Plots, style
from gpuprof.views.charts.frame import bokeh_item
from gpuprof.views.charts.plots import all_charts, draw
from gpuprof.views.theme import EVENTS
from tests.support.reports import device_report, empty_report, host_report
from tests.support.trace_builder import TraceBuilder

NAMES = ["device", "kernels", "memory", "steps", "transfers"]


def test_charts_are_found_by_name():
    assert list(all_charts()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_chart_of_every_shared_trace_can_be_rendered(name, any_shared_trace):
    item = json.loads(bokeh_item(draw(Report.of(any_shared_trace), name)))
    assert item["root_id"]


@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_was_recorded_words_say_so(name):
    report = empty_report()
    chart = draw(report, name)
    assert type(chart).__name__ == "Text"
    assert any(word in chart.data[2] for word in ("recorded", "sampled", "found"))


@pytest.mark.parametrize("name", NAMES)
def test_a_full_run_has_every_chart(name):
    report = device_report()
    assert type(draw(report, name)).__name__ in ("Overlay", "Layout", "Bars")


def test_the_memory_curve_keeps_its_peak_and_its_unit():
    report = device_report()
    (curve,) = [layer for layer in draw(report, "memory") if layer.label == "allocated"]
    assert curve.vdims[0].unit == "GiB"
    assert curve.dimension_values(1).max() * 1024**3 == report.results.get(MemoryPeak).primary.peak_allocated_bytes


def test_a_copy_stands_at_its_size_and_bandwidth():
    points = next(layer for layer in draw(device_report(), "transfers") if layer.label == "pageable, exposed")
    assert len(points) == 6
    assert points.dimension_values(0)[0] == pytest.approx(38_500_000 / 1024)
    assert points.dimension_values(1)[0] == pytest.approx(3.85)


def test_thinning_keeps_the_highest_rows():
    values = np.zeros(1_000_000)
    values[654_321] = 7
    rows = style.highest_rows(np.arange(1_000_000), values)
    assert 654_321 in rows
    assert len(rows) <= style.MOST_POINTS + 1


def test_after_thinning_the_value_holds_that_really_held():
    # GIVEN a value that is freed just before a long pause
    times = np.append(np.arange(10_000), 1_000_000)
    values = np.tile([1.0, 8.0, 3.0, 0.0], 2_501)[: len(times)]
    values[9_999] = 0
    rows = style.highest_rows(times, values)
    assert rows[0] == 0 and values[rows[rows < 10_000][-1]] == 0 and rows[-1] == 10_000


@pytest.mark.parametrize(
    ("ticks", "low", "high", "expected"),
    [
        (style.byte_ticks, 200, 5_000, [256, 512, 1024, 2048, 4096]),
        (style.byte_ticks, 20, 2**30, [2.0**power for power in range(5, 31, 4)]),
        (style.decade_ticks, 0.8e9, 12e9, [1e9, 2e9, 5e9, 1e10]),
        (style.decade_ticks, 5e6, 400e9, [1e7, 1e8, 1e9, 1e10, 1e11]),
    ],
)
def test_ticks_stand_at_round_figures(ticks, low, high, expected):
    assert ticks(low, high) == pytest.approx(expected)


def test_bars_of_kernels_name_the_function_without_its_arguments():
    report = device_report(name="void at::native::(anonymous namespace)::f<4, Add<float> >(int, float*)")
    (label,) = draw(report, "kernels").dimension_values("kernel")
    assert label == "1. f<4, Add<float> >"


def test_collectives_have_their_own_colour_among_the_kernels():
    trace = TraceBuilder().device(0).kernel("ncclKernel_AllReduce(int)", 0, 50).kernel("volta_sgemm", 60, 20).build()
    bars = draw(Report.of(trace), "kernels")
    colours = dict(zip(bars.dimension_values("name"), bars.dimension_values("colour"), strict=True))
    assert colours == {"ncclKernel_AllReduce(int)": EVENTS["collective"].light, "volta_sgemm": EVENTS["kernel"].light}


def test_plots_are_reached_by_name_and_a_wrong_one_is_named():
    plots = Plots(host_report())
    assert "memory" in dir(plots)
    assert type(plots.memory()).__name__ == "Overlay"
    with pytest.raises(AttributeError, match="there are device, kernels, memory"):
        plots.memry()
    with pytest.raises(UsageError, match="no plot 'nothing'"):
        plots.draw("nothing")
