"""The table beside the timeline: what each lane holds, in figures."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.views.html.blocks import Block, TableBlock, TableCell
from gpuprof.views.timeline.lanes import Lane, Timeline


def blocks(timeline: Timeline, results: Results) -> tuple[Block, ...]:
    """Lanes with their events and covered time; step times where there are steps."""
    return (_lanes(timeline), *steps(results))


def _lanes(timeline: Timeline) -> TableBlock:
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


def steps(results: Results) -> tuple[TableBlock, ...]:
    """How many steps, their median and 95th percentile; empty where there are none."""
    times = results.get(StepTime)
    if not times.count:
        return ()
    warm = times.count - int(times.steady.sum())
    rows = (
        ("steps recorded", TableCell(units.count(times.count), times.count)),
        ("of them warm-up", TableCell(units.count(warm), warm)),
        ("median step", TableCell(units.duration(times.median_ns), times.median_ns)),
        ("95th percentile", TableCell(units.duration(times.p95_ns), times.p95_ns)),
    )
    found = f"Steps found from {times.steps_from}. " if times.steps_from else ""
    note = f"{found}Warm-up: steps at the beginning of more than twice the median; "
    return (TableBlock("Steps", ("", ""), rows, note + "median and percentile leave them out."),)
