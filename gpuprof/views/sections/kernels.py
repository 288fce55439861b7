"""The Kernels & operators tab."""

from __future__ import annotations

import math

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.kernels import Kernels
from gpuprof.analyses.run.operators import Operators
from gpuprof.model.kernel_names import KernelCategory, Precision
from gpuprof.report import Report
from gpuprof.views.blocks import Block, Name, Sentence, TableBlock, TableCell
from gpuprof.views.kernel_words import brief_names
from gpuprof.views.sections.section import Section
from gpuprof.views.sections.shape_bandwidth import bandwidth_table
from gpuprof.views.sections.shape_efficiency import efficiency_table, looked_table

MOST_ROWS = 100
_HEADS = ("kernel", "kind", "precision", "count", "total time", "share", "median", "occupancy")
_AS_WRITTEN = {KernelCategory.GEMM: "GEMM"}


def _known(report: Report) -> bool:
    return bool(report.results.get(Kernels).count or report.results.get(Operators).uses)


def _blocks(report: Report) -> tuple[Block, ...]:
    """Kernels by name, longest first, products by shape, and operators by self time; what there is none of last."""
    results = report.results
    kernels, operators = results.get(Kernels), results.get(Operators)
    by_operator = _operators(operators) if operators.uses else Sentence("No operators were recorded.")
    by_shape = efficiency_table(results), looked_table(results), bandwidth_table(results)
    shapes = tuple(each for each in by_shape if each is not None)
    if not kernels.count:
        return *shapes, by_operator, Sentence(_why_none(results))
    return _kernels(results, kernels), *shapes, by_operator


def _why_none(results: Results) -> str:
    if results.trace.device_recorded:
        return "The recording holds no kernel."
    return "Kernels are unknown: device activity was not recorded."


def _kernels(results: Results, kernels: Kernels) -> TableBlock:
    table = kernels.table
    known = bool(np.isfinite(table["occupancy_percent"]).any())
    shown = len(_HEADS) if known else len(_HEADS) - 1
    whole = [results.trace.names[name] for name in table["name"][:MOST_ROWS].tolist()]
    names = [Name(text, name) if text != name else name for text, name in zip(brief_names(whole), whole, strict=True)]
    rows = tuple((name, *_kernel_row(kernels, row))[:shown] for row, name in enumerate(names))
    note = "Share is of the sum of kernel durations. "
    note += "Occupancy is the profiler's estimate, weighted by time." if known else "Occupancy was not recorded."
    return TableBlock(
        f"Kernels by name: {units.count(kernels.count)} in {units.duration(kernels.total_ns)}",
        _HEADS[:shown],
        rows,
        _more(len(table)) + note,
    )


def _kernel_row(kernels: Kernels, row: int) -> tuple[str | TableCell, ...]:
    table = kernels.table
    category, precision = KernelCategory(int(table["category"][row])), Precision(int(table["precision"][row]))
    total, median = int(table["total_ns"][row]), int(table["median_ns"][row])
    occupancy = float(table["occupancy_percent"][row])
    share = total / kernels.total_ns if kernels.total_ns else math.nan
    return (
        _AS_WRITTEN.get(category, category.name.lower().replace("_", " ")),
        "–" if precision is Precision.UNKNOWN else precision.name if precision is not Precision.REDUCED else "reduced",
        TableCell(units.count(int(table["count"][row])), int(table["count"][row])),
        TableCell(units.duration(total), total),
        TableCell(units.percent(share), share),
        TableCell(units.duration(median), median),
        TableCell(units.percent(occupancy / 100), None if math.isnan(occupancy) else occupancy),
    )


def _operators(operators: Operators) -> TableBlock:
    rows = tuple(
        (
            use.name,
            TableCell(units.count(use.count), use.count),
            TableCell(units.duration(use.self_ns), use.self_ns),
            TableCell(units.duration(use.total_ns), use.total_ns),
        )
        for use in operators.uses[:MOST_ROWS]
    )
    return TableBlock(
        "Operators by name, host time",
        ("operator", "count", "self time", "total time"),
        rows,
        _more(len(operators.uses)) + "Self time leaves out the operators inside; all threads count.",
    )


def _more(count: int) -> str:
    return f"The first {MOST_ROWS} of {units.count(count)} names. " if count > MOST_ROWS else ""


SECTION = Section(order=40, key="kernels", title="Kernels & operators", known=_known, blocks=_blocks, chart="kernels")
