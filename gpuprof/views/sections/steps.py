"""The Steps tab: how long every step took."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.report import Report
from gpuprof.views.blocks import Block, TableBlock, TableCell, curve_block
from gpuprof.views.sections.section import Section


def _known(report: Report) -> bool:
    return report.results.get(StepTime).count > 1


def _blocks(report: Report) -> list[Block]:
    return [*_curve(report), _table(report.results.get(StepTime))]


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


SECTION = Section(order=50, key="steps", title="Steps", known=_known, blocks=_blocks, chart="steps")
