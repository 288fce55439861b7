"""The widget carries the whole run and turns ranges into its own clock."""

import numpy as np

from gpuprof.views.timeline.widget import TimelineWidget
from tests.support.reports import MS, device_report, with_findings
from tests.views.timeline import decode


def test_the_widget_holds_every_event():
    report = with_findings(device_report())
    widget = TimelineWidget(report.trace, report=report)
    starts = [decode.starts(widget.buffer, s) for s in decode.series(widget.payload)]
    kernels = len(report.trace.device_events)
    assert sum(map(len, starts)) > kernels
    assert np.concatenate(starts).min() == 0
    assert widget.payload["title"] == report.title
    assert widget.payload["findings"][0]["label"] == "The GPU waits for the DataLoader"


def test_focus_is_relative_to_the_origin():
    trace = device_report().trace
    widget = TimelineWidget(trace)
    widget.focus([(trace.span_start_ns + MS, trace.span_start_ns + 2 * MS)])
    offset = trace.span_start_ns - widget.origin_ns
    assert widget.focus_ranges == [[offset + MS, offset + 2 * MS]]
