"""The table beside the timeline: what each lane holds, in figures."""

from __future__ import annotations

from gpuprof import units
from gpuprof.views.blocks import TableBlock, TableCell
from gpuprof.views.timeline.lanes import Lane, Timeline


def lanes_table(timeline: Timeline) -> TableBlock:
    """Lanes with their events and covered time."""
    rows = tuple(_lane_row(lane, timeline.span_ns) for lane in timeline.lanes if isinstance(lane, Lane))
    note = "Covered: time in which at least one event of the lane runs, and its share of the time that is drawn."
    return TableBlock("The lanes in figures", ("lane", "events", "covered", "share"), rows, note)


def _lane_row(lane: Lane, span_ns: int) -> tuple[str | TableCell, ...]:
    events = sum(len(series) for row in lane.rows for series in row)
    covered = lane.covered_within(span_ns)
    share = covered / span_ns if span_ns else None
    return (
        lane.title,
        TableCell(units.count(events), events),
        TableCell(units.duration(covered), covered),
        TableCell(units.percent(share), share),
    )
