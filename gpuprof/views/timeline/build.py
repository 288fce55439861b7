"""Trace → Timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_peak import MemoryPeak
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.views.timeline import curves, event_lanes
from gpuprof.views.timeline.facts import Facts
from gpuprof.views.timeline.lanes import CurveLane, Lane, Series, Timeline
from gpuprof.views.timeline.names import NameTable
from gpuprof.views.timeline.reduce import with_fewer_texts

# A run whose shapes never repeat would else hold more of them than events.
MOST_TEXT_LETTERS = 500_000


def build(
    trace: Trace,
    results: Results | None = None,
    *,
    findings: Sequence[Finding] = (),
    title: str | None = None,
    with_source: bool = True,
) -> Timeline:
    """Lay out a Trace: its events, its curves, the device's idle time by cause, and the ranges of its findings.

    Without `with_source` the lines of the cell are named by their number alone.
    """
    results = results or Results(trace)
    origin, end = _bounds(trace)
    names = NameTable(trace)
    span = end - origin
    idle = results.get(DeviceIdle)
    facts = Facts(trace, results, names, with_source=with_source)
    device = event_lanes.streams(trace, origin, names, facts, stalls_of=idle.device)
    host = event_lanes.threads(trace, origin, names, facts)
    lanes: list[Lane | CurveLane] = [
        *event_lanes.steps(trace, origin, names),
        *_with_overview(device),
        *(host if device else _with_overview(host)),
        *event_lanes.frames(trace, origin, names),
        *curves.memory(results.get(MemoryPeak), origin, span),
        *curves.device_readings(trace, origin, span),
        *curves.host_readings(trace, origin, span),
    ]
    timeline = Timeline(
        title=title or trace.source.path.rpartition("/")[2] or "the run",
        origin_ns=origin,
        zero_ns=trace.span_start_ns - origin,
        span_ns=span,
        names=tuple(names.texts),
        lanes=tuple(_linked(lanes, trace)),
        stalls=tuple(_stalls(idle.parts, origin)) if device else (),
        findings=tuple(_ranges(findings, origin)),
        end_ns=trace.span_end_ns - origin,
    )
    return with_fewer_texts(timeline, MOST_TEXT_LETTERS)


def _bounds(trace: Trace) -> tuple[int, int]:
    """First begin and last end of anything that has a lane of events, ns."""
    tables = [t for t in (trace.operators, trace.calls, trace.device_events, trace.user_ranges, trace.steps) if t]
    starts = [int(table["start_ns"].min()) for table in tables]
    ends = [int((table["start_ns"] + table["duration_ns"]).max()) for table in tables]
    return min([trace.span_start_ns, *starts]), max([trace.span_end_ns, *ends])


def _with_overview(lanes: list[Lane]) -> list[Lane]:
    if not lanes:
        return lanes
    busiest = max(range(len(lanes)), key=lambda i: lanes[i].covered_ns)
    return [replace(lane, overview=i == busiest) for i, lane in enumerate(lanes)]


def _linked(lanes: list[Lane | CurveLane], trace: Trace) -> list[Lane | CurveLane]:
    """Gives device events the number of their launch."""
    number_of_call = np.full(len(trace.calls) + 1, -1, np.int64)
    first = 0
    for series in _all_series(lanes):
        if series.table == "calls":
            number_of_call[series.source] = first + np.arange(len(series))
        first += len(series)
    return [_link_lane(lane, trace, number_of_call) if isinstance(lane, Lane) else lane for lane in lanes]


def _link_lane(lane: Lane, trace: Trace, number_of_call: Array) -> Lane:
    if not any(series.table == "device_events" for row in lane.rows for series in row):
        return lane
    calls = trace.device_events["call"]
    rows = (tuple(replace(s, link=number_of_call[calls[s.source]]) for s in row) for row in lane.rows)
    return replace(lane, rows=tuple(rows))


def _all_series(lanes: list[Lane | CurveLane]) -> list[Series]:
    return [series for lane in lanes if isinstance(lane, Lane) for row in lane.rows for series in row]


def _stalls(idle: Mapping[str, Intervals], origin: int) -> list[Series]:
    return [
        Series(cause, intervals.starts - origin, intervals.ends - intervals.starts)
        for cause, intervals in idle.items()
        if len(intervals.starts)
    ]


def _ranges(findings: Sequence[Finding], origin: int) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    return [
        (finding.title.replace("`", ""), tuple((t0 - origin, t1 - origin) for t0, t1 in finding.where.ranges_ns))
        for finding in findings
    ]
