"""The Steps tab: how long every step took."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.report import Report
from gpuprof.views.blocks import Block, TableBlock, TableCell, curve_block
from gpuprof.views.sections.section import Section


def _known(report: Report) -> bool:
    results = report.results
    return results.get(StepTime).count > 1 or results.get(PlainIterations).plain is not None


def _blocks(report: Report) -> list[Block]:
    return [*_curve(report), _table(report.results.get(StepTime)), *_plain(report.results.get(PlainIterations))]


def _curve(report: Report) -> Iterator[Block]:
    trace = report.trace
    start, lasted = trace.steps["start_ns"], trace.steps["duration_ns"].astype(np.float64)
    if len(start) > 1 and trace.span_end_ns > trace.span_start_ns:
        longest = float(lasted.max())
        top, within = units.duration(longest), (float(trace.span_start_ns), float(trace.span_end_ns))
        yield curve_block("Duration of the steps", "kernel", start, lasted, top=longest, top_text=top, within=within)


def _table(times: StepTime) -> TableBlock:
    warm = times.count - int(times.steady.sum())
    rows = (
        ("steps recorded", TableCell(units.count(times.count), times.count)),
        ("of them warm-up", TableCell(units.count(warm), warm)),
        ("median step", TableCell(units.duration(times.median_ns), times.median_ns)),
        ("95th percentile", TableCell(units.duration(times.p95_ns), times.p95_ns)),
    )
    found = f"Steps found from {times.steps_from}. " if times.steps_from else ""
    note = f"{found}Warm-up: steps at the beginning of more than twice the median; "
    return TableBlock("Steps", ("", ""), rows, note + "median and percentile leave them out.")


def _plain(found: PlainIterations) -> Iterator[Block]:
    """The iterations of the whole cell, by the hooks that time them all."""
    kinds = [("without the recording", found.plain), ("recorded", found.recorded)]
    known = [(head, each) for head, each in kinds if each is not None]
    if found.plain is None:
        return
    rows: list[tuple[str | TableCell, ...]] = [
        (name, *(TableCell(text(getattr(each, field)), getattr(each, field)) for _, each in known))
        for name, field, text in _PARTS
    ]
    note = (
        "Of all iterations of the cell, but for those over three times as long as the median. Shares and savings of "
        "the wait for data and of the optimizer are of the iterations without the recording."
    )
    yield TableBlock("Iterations of the whole cell", ("", *(head for head, _ in known)), tuple(rows), note)


_PARTS = (
    ("iterations", "count", units.count),
    ("mean", "mean_ns", units.duration),
    ("of it, wait for data", "wait_ns", units.duration),
    ("of it, optimizer", "optimizer_ns", units.duration),
    ("of it, the rest", "rest_ns", units.duration),
)


SECTION = Section(order=50, key="steps", title="Steps", known=_known, blocks=_blocks, chart="steps")
