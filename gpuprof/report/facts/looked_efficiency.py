"""How well a run without recorded shapes calculates, by the close look: as the JSON has it, and in words."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.looked_efficiency import LookedEfficiency, LookedShape
from gpuprof.units import milliseconds, operation_rate, operations, percent, plural

MOST_SHAPES = 50


def looked_efficiency_dict(results: Results) -> dict[str, Any] | None:
    """Of one iteration, with the shapes of most operations, 50 at most; None where the look does not tell."""
    found = results.get(LookedEfficiency)
    if not found.shapes:
        return None
    return {
        "on_device": found.on_device,
        "iterations": found.iterations,
        "iteration_flops": found.iteration_flops,
        "iteration_ms": _ms(found.iteration_ns),
        "running_ms": _ms(found.running_ns),
        "flops_per_s": found.flops_per_s,
        "running_flops_per_s": found.running_flops_per_s,
        "covered_share": found.covered_share,
        "number_format": _format(found.number_format),
        "peak_flops_per_s": found.peak_flops_per_s,
        "mfu": found.mfu,
        "uncounted": found.uncounted,
        "shapes": [_shape(each) for each in found.shapes[:MOST_SHAPES]],
    }


def looked_efficiency_words(results: Results, *, with_basis: bool = True) -> str:
    """How many operations an iteration takes and how fast, with the basis; empty where its time is not known."""
    found = results.get(LookedEfficiency)
    if found.flops_per_s is None:
        return ""
    least = "at least " if found.uncounted else ""
    said = f"An iteration takes {least}{operations(found.iteration_flops)}"
    said += f": {operation_rate(found.flops_per_s)} over its time without the recording"
    if found.running_flops_per_s is not None:
        said += f", {operation_rate(found.running_flops_per_s)} while products run"
    if found.mfu is not None:
        said += f"; MFU {percent(found.mfu)}"
    return f"{said}{' (from the operators that the close look saw)' if with_basis else ''}."


def looked_basis(results: Results) -> str:
    """Where these figures come from, and what they leave out."""
    found = results.get(LookedEfficiency)
    words = f"Counted from the operators that the close look saw in {plural(found.iterations, 'iteration')}."
    if found.covered_share is not None:
        words += f" These rows are {percent(found.covered_share)} of operator time there."
    if found.iteration_ns is None:
        words += " How long such an iteration takes without the recording is not known."
    if found.uncounted:
        more = plural(found.uncounted, "operator")
        words += f" Not counted: {more} of sparse or complex numbers, recurrent layers, decompositions or transforms."
    return words


def _shape(each: LookedShape) -> dict[str, Any]:
    return {
        "operator": each.operator,
        "shapes": [list(shape) for shape in each.shapes],
        "number_format": _format(each.number_format),
        "count": each.count,
        "flops": each.flops,
    }


def _ms(ns: float | None) -> float | None:
    return None if ns is None else milliseconds(ns)


def _format(number_format: object) -> str | None:
    return None if number_format is None else str(number_format)
