"""How fast products of each shape calculate, as a table of the Kernels & operators tab."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.analyses.efficiency.efficiency import Efficiency, ShapeEfficiency
from gpuprof.analyses.efficiency.looked_efficiency import LookedEfficiency, LookedShape
from gpuprof.report.facts.efficiency import efficiency_words
from gpuprof.report.facts.looked_efficiency import looked_basis, looked_efficiency_words
from gpuprof.views.blocks import Name, TableBlock, TableCell, Value

MOST_ROWS = 50
_FROM_SHAPES = "FLOPs follow from shapes; the masked half of causal attention is not counted."
_MISSING = {
    "shapes": "Operators without recorded shapes are left out (record them with `--shapes`). ",
    "numbers": "Convolutions and attention are left out where strides, or whether it is causal, were not recorded. ",
}


def efficiency_table(results: Results) -> TableBlock | None:
    """One row for each shape, the longest time first; None where none is known. Without peaks on a CPU run, and on a
    device whose peaks are not listed."""
    found = results.get(Efficiency)
    if not found.shapes:
        return None
    shown = found.shapes[:MOST_ROWS]
    peaks = any(each.peak_share is not None for each in shown)
    time = "GPU time" if found.on_device else "CPU time"
    heads = ("operator", "shapes", "format", "count", time, "FLOP per call", "FLOP/s", "of peak")
    rows = tuple(_row(each)[: len(heads) if peaks else -1] for each in shown)
    return TableBlock(
        "Matrix products, convolutions and attention by shape",
        heads if peaks else heads[:-1],
        rows,
        _note(found, results),
    )


def looked_table(results: Results) -> TableBlock | None:
    """One row for each shape that the close look saw in an iteration, most operations first; None where shapes were
    recorded, or none were seen."""
    found = results.get(LookedEfficiency)
    if not found.shapes:
        return None
    more = len(found.shapes) - MOST_ROWS
    words = [f"The first {MOST_ROWS} of {units.count(len(found.shapes))} shapes."] if more > 0 else []
    words += [looked_efficiency_words(results, with_basis=False), looked_basis(results), _FROM_SHAPES]
    return TableBlock(
        "Matrix products, convolutions and attention of an iteration, by shape",
        ("operator", "shapes", "format", "per iteration", "FLOP per call", "share of FLOPs"),
        tuple(_looked_row(each, found) for each in found.shapes[:MOST_ROWS]),
        " ".join(word for word in words if word),
    )


def _looked_row(each: LookedShape, found: LookedEfficiency) -> tuple[Value, ...]:
    share = each.count * each.flops / found.iteration_flops if found.iteration_flops else None
    return (
        *_named(each),
        TableCell(f"{each.count:.3g}", each.count),
        TableCell(units.operations(each.flops), each.flops),
        TableCell(units.percent(share), share),
    )


def _row(each: ShapeEfficiency) -> tuple[Value, ...]:
    rate, share = each.flops_per_s, each.peak_share
    return (
        *_named(each),
        TableCell(units.count(each.count), each.count),
        TableCell(units.duration(each.ns), each.ns),
        TableCell(units.operations(each.flops / each.count), each.flops / each.count),
        TableCell("–" if rate is None else units.operation_rate(rate), rate),
        TableCell("–" if share is None else units.percent(share), share),
    )


def _named(each: ShapeEfficiency | LookedShape) -> tuple[Value, ...]:
    """Operator, shapes, and number format."""
    whole = ", ".join(_sizes(shape) for shape in each.shapes)
    # of a gradient what it is taken of, of a product its factors and no bias
    factors = each.shapes[1:4] if each.operator.endswith("backward") else each.shapes[:3]
    brief = ", ".join(_sizes(shape) for shape in sorted(factors, key=len, reverse=True)[:2])
    return each.operator, Name(brief, whole), "–" if each.number_format is None else each.number_format.value


def _sizes(shape: Shape) -> str:
    return "×".join(map(str, shape))


def _note(found: Efficiency, results: Results) -> str:
    more = len(found.shapes) - MOST_ROWS
    words = [f"The first {MOST_ROWS} of {units.count(len(found.shapes))} shapes."] if more > 0 else []
    words += [efficiency_words(results), _MISSING.get(found.missing or "", "").strip()]
    if found.covered_share is not None:
        of = "kernel time" if found.on_device else "operator time"
        words.append(f"These rows are {units.percent(found.covered_share)} of all {of}.")
    words.append(_FROM_SHAPES)
    if found.on_device and any(each.peak_share is not None for each in found.shapes):
        words.append("Peaks are the vendor's figures for dense products.")
    return " ".join(word for word in words if word)
