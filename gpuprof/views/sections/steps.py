"""The Steps tab: how long every step took, or every iteration where no steps are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.loops.iteration_run import IterationRun
from gpuprof.analyses.loops.iterations import Iterations
from gpuprof.model.table import Array
from gpuprof.report import Report
from gpuprof.views.blocks import Block, TableBlock, TableCell, curve_block
from gpuprof.views.sections.section import Section


def _known(report: Report) -> bool:
    results = report.results
    several = (run for run in results.get(Iterations).runs if run.count > 1)
    known = results.get(StepTime).count > 1 or results.get(PlainIterations).plain is not None
    return known or any(several)


def _blocks(report: Report) -> list[Block]:
    runs, plain = report.results.get(Iterations).runs, _plain(report.results.get(PlainIterations))
    if runs:
        return [*(each for run in runs for each in _iterations(report, run)), *plain]
    return [*_curve(report), _table(report.results.get(StepTime)), *plain]


_HOW = {
    "ranges": "the ranges that the code named",
    "lines": "the lines of the loop",
    "operators": "the order of the operators, which repeats",
}


def _iterations(report: Report, run: IterationRun) -> Iterator[Block]:
    yield from _curve_of(report, "Duration of the iterations", run.starts_ns, run.durations_ns.astype(np.float64))
    where = f" of {run.file}" if run.file else " of the cell"
    loop = [("loop", TableCell(f"line {run.line}{where}", run.line))] if run.line is not None else []
    rows = (
        ("iterations recorded", TableCell(units.count(run.count), run.count)),
        ("median iteration", TableCell(units.duration(run.median_ns), run.median_ns)),
        ("10th to 90th percentile", TableCell(units.duration(run.spread_ns), run.spread_ns)),
        *loop,
    )
    yield TableBlock("Iterations", ("", ""), rows, f"No steps are known. Iterations found from {_HOW[run.how]}.")


def _curve(report: Report) -> Iterator[Block]:
    steps = report.trace.steps
    yield from _curve_of(report, "Duration of the steps", steps["start_ns"], steps["duration_ns"].astype(np.float64))


def _curve_of(report: Report, title: str, start: Array, lasted: Array) -> Iterator[Block]:
    trace = report.trace
    if len(start) > 1 and trace.span_end_ns > trace.span_start_ns:
        longest = float(lasted.max())
        top, within = units.duration(longest), (float(trace.span_start_ns), float(trace.span_end_ns))
        yield curve_block(title, "kernel", start, lasted, top=longest, top_text=top, within=within)


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
