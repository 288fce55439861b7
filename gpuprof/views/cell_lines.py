"""Where the time of the whole cell went, by line: a table for every view that shows lines."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.model.context import Cell, SampledFile
from gpuprof.views.blocks import Block, TableBlock, TableCell

MOST_ROWS = 20
_LEAST_SHARE = 0.005


def cell_lines(results: Results) -> list[Block]:
    """The table, or nothing where no stack was sampled."""
    found, stacks = results.get(CellTime), results.trace.context.stacks
    if stacks is None or not found.table:
        return []
    files = [each for each in stacks.files if each.kind in ("cell", "notebook")]
    table = found.table.take(found.table["share"] >= _LEAST_SHARE)
    rows: list[tuple[str | TableCell, ...]] = []
    for row in range(min(len(table), MOST_ROWS)):
        line, spent_ns, share = int(table["line"][row]), int(table["duration_ns"][row]), float(table["share"][row])
        place = "an unknown line" if line < 0 else f"line {line}"
        rows.append(
            (
                f"{place} of {title(files[table['source_file'][row]], results.trace.context.cell)}",
                TableCell(units.duration(spent_ns), spent_ns),
                TableCell(f"{units.percent(share)} ± {units.percent(float(table['error'][row]))}", share),
                _called(results, int(table["leaf"][row]), float(table["leaf_share"][row])),
            )
        )
    heads = ("line", "time", "share", "most of it in")
    return [TableBlock("Time of the whole cell by line", heads, tuple(rows), _note(results))]


def title(file: SampledFile, cell: Cell | None) -> str:
    """`the cell`, `the cell, In [7]`, `In [3]`, `another cell`."""
    if file.kind == "cell":
        number = cell.execution_count if cell else file.execution_count
        return "the cell" if number is None else f"the cell, In [{number}]"
    return "another cell" if file.execution_count is None else f"In [{file.execution_count}]"


def _called(results: Results, node: int, share: float) -> str:
    """What the line called: `Optimizer.step (torch/optim/adam.py), 92%`."""
    trace, stacks = results.trace, results.trace.context.stacks
    if node < 0 or stacks is None:
        return ""
    file = stacks.files[trace.stack_nodes["sampled_file"][node]]
    function = stacks.functions[trace.stack_nodes["function"][node]]
    if file.kind in ("cell", "notebook"):
        return f"the line itself, {units.percent(share)}"
    return f"{function} ({file.filename}), {units.percent(share)}"


def _note(results: Results) -> str:
    found, stacks = results.get(CellTime), results.trace.context.stacks
    rate = stacks.rate_hz if stacks else 0.0
    outside = found.outside_ns / found.sampled_ns
    text = (
        f"From samples of the stack, {rate:.0f} a second over the whole cell, not only its recorded part. A line’s "
        "time is the time with it as the innermost line of the notebook. While kernels were recorded, the lines of "
        "operators are exact. ± is one standard error."
    )
    if outside >= _LEAST_SHARE:
        text += f" {units.percent(outside)} was outside the notebook's code."
    return text
