"""Which lines launched what."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_lines_are_those_whose_work_takes_most_whenever_it_runs() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 100).line(2, 0).line(3, 10).line(4, 20)
    builder.kernel("b", 500, 30, launch_at_us=15).kernel("a", 600, 60, launch_at_us=5).kernel(
        "c", 700, 5, launch_at_us=25
    )
    places = Results(builder.kernel("unlinked", 750, 1000).build()).get(LaunchPlaces)

    assert places.lines(np.arange(4)) == (2, 3)
    assert places.lines(np.array([], np.int64)) == ()


def test_nothing_recorded_has_no_lines(empty_trace: Trace) -> None:
    places = Results(empty_trace).get(LaunchPlaces)
    assert (len(places.thread), places.lines(np.array([], np.int64))) == (0, ())
