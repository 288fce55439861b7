"""A Trace becomes lanes without losing an event."""

import numpy as np
import pytest

from gpuprof.views.timeline.build import build
from gpuprof.views.timeline.lanes import CurveLane, Lane
from tests.support.reports import device_report, empty_report, host_report, with_findings
from tests.support.trace_builder import TraceBuilder


def lane(timeline, label):
    return next(lane for lane in timeline.lanes if lane.label == label)


def names(timeline, series):
    return [timeline.names[i] for i in series.name]


def test_host_events_nest_and_keep_their_kind():
    trace = (
        TraceBuilder()
        .step(0, 100, number=3)
        .data_wait(0, 20)
        .operator("aten::linear", 30, 40)
        .operator("aten::mm", 35, 20)
        .kernel("sgemm", 50, 30, launch_at_us=40)
        .sync(80, 15)
        .build()
    )
    timeline = build(trace)
    main = lane(timeline, "main thread")
    kinds = [{s.kind: names(timeline, s) for s in row} for row in main.rows]
    assert kinds[0]["operator"] == ["aten::linear"]
    assert kinds[0]["sync"] == ["cudaStreamSynchronize"]
    assert list(kinds[0]["input_wait"]) == ["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"]
    assert kinds[1]["operator"] == ["aten::mm"]
    assert kinds[2]["launch"] == ["cudaLaunchKernel"]
    assert names(timeline, lane(timeline, "steps").rows[0][0]) == ["step 3 · 100 µs"]


def test_a_kernel_is_linked_to_its_launch():
    trace = TraceBuilder().kernel("lost", 1, 2).kernel("sgemm", 50, 30, launch_at_us=40).build()
    timeline = build(trace)
    events = [(s.kind, int(start)) for s in timeline.series() for start in s.start_ns]
    kernels = lane(timeline, "stream 7").rows[0][0]
    assert kernels.link.tolist()[0] == -1
    assert events[kernels.link[1]] == ("launch", 40_000 - timeline.origin_ns)


def test_copies_say_size_direction_and_host_memory():
    trace = TraceBuilder().copy("h2d", 0, 5, bytes=640, host_memory="pageable").build()
    details = lane(build(trace), "stream 7").rows[0][0].details
    found = {d.label: d.words[d.values[0]] if d.words else d.values[0] for d in details}
    assert found == {"size": 640, "direction": "host to device", "host memory": "pageable"}


def test_concurrent_kernels_of_a_stream_do_not_overlap_in_a_row():
    trace = TraceBuilder().kernel("a", 0, 10).kernel("b", 5, 10).kernel("c", 12, 10).build()
    stream = lane(build(trace), "stream 7")
    assert len(stream.rows) == 2
    assert stream.covered_ns == 22_000


def test_what_reaches_beyond_the_drawn_time_is_not_counted():
    trace = TraceBuilder().kernel("a", 0, 10).frame("train", 0, 50).build()
    timeline = build(trace)
    python = lane(timeline, "Python")
    assert python.covered_ns == 50_000
    assert python.covered_within(timeline.span_ns) == timeline.span_ns < 50_000


def test_idle_time_is_shaded_by_cause_and_adds_up():
    report = device_report()
    timeline = build(report.trace, report.results)
    shaded = sum(int(s.duration_ns.sum()) for s in timeline.stalls)
    assert shaded == sum(e.ns for e in report.budget.entries if e.category.startswith("idle_"))
    assert any(s.kind == "idle_input" for s in timeline.stalls)


def test_only_the_device_whose_idle_time_is_known_is_shaded():
    builder = TraceBuilder().kernel("a", 0, 10, device=0).kernel("b", 20, 10, device=0).kernel("c", 50, 10, device=1)
    timeline = build(builder.build())
    assert [(lane.device, lane.stalls) for lane in timeline.lanes if isinstance(lane, Lane)] == [(0, True), (1, False)]


def test_findings_keep_their_ranges_relative_to_the_origin():
    report = with_findings(device_report())
    timeline = build(report.trace, report.results, findings=report.findings)
    first = report.findings[0].where.ranges_ns[0]
    assert timeline.findings[0][1][0] == (first[0] - timeline.origin_ns, first[1] - timeline.origin_ns)
    assert timeline.findings[1][1] == ()


def test_memory_has_a_curve_with_its_peak():
    timeline = build(device_report().trace)
    memory = lane(timeline, "GPU memory")
    assert isinstance(memory, CurveLane)
    assert [curve.label for curve in memory.curves] == ["allocated", "reserved"]
    assert memory.curves[0].peak[1] == memory.curves[0].value.max() == (4 << 30) + 30 * (300 << 20)


def test_a_silence_in_the_samples_is_a_hole():
    builder = TraceBuilder().operator("a", 0, 1000)
    for at in (0, 10, 20, 30, 700, 710):
        builder.sample(at, utilisation_percent=50.0)
    curve = lane(build(builder.build()), "utilisation").curves[0]
    assert np.isnan(curve.value).sum() == 1
    assert 30_000 < curve.time_ns[np.isnan(curve.value)][0] < 700_000


@pytest.mark.parametrize("report", [host_report, empty_report])
def test_runs_without_a_device_have_no_stream_and_no_shade(report):
    timeline = build(report().trace)
    assert not timeline.stalls
    assert not any(lane.label.startswith("stream") for lane in timeline.lanes)


def test_no_event_of_a_shared_trace_is_lost(any_shared_trace):
    trace = any_shared_trace
    timeline = build(trace)
    steps_as_spans = int(trace.name_mask(trace.user_ranges, "ProfilerStep").sum())
    tables = (trace.operators, trace.user_ranges, trace.calls, trace.device_events, trace.frames, trace.steps)
    assert timeline.events == sum(map(len, tables)) - steps_as_spans
    for series in timeline.series():
        ends = series.start_ns + series.duration_ns
        assert ((series.start_ns >= 0).all() and (ends <= timeline.span_ns).all()) or series.kind == "python"
        assert (series.start_ns[1:] >= ends[:-1]).all()


def test_the_largest_shared_trace_has_a_lane_a_stream(shared_trace):
    timeline = build(shared_trace("v100-ddp-memory-nccl"))
    assert isinstance(lane(timeline, "stream 14"), Lane)


def test_the_axis_counts_from_the_begin_of_the_span_as_the_findings_do():
    trace = TraceBuilder().step(0, 100).data_wait(0, 50).operator("aten::mm", 60, 20).build()
    timeline = build(trace)
    assert timeline.origin_ns + timeline.zero_ns == trace.span_start_ns == 60_000
    assert timeline.origin_ns == 0
