"""How fast memory-bound operators of each shape move data, as a table of the Kernels & operators tab."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.tensor_inputs import Shape
from gpuprof.analyses.efficiency.bandwidth import Bandwidth, ShapeBandwidth
from gpuprof.report.facts.bandwidth import bandwidth_words
from gpuprof.views.blocks import Name, TableBlock, TableCell, Value

MOST_ROWS = 50
_NAMED = 2


def bandwidth_table(results: Results) -> TableBlock | None:
    """One row for each shape, the longest time first; None where none is known. Without shares where the device is not
    listed."""
    found = results.get(Bandwidth)
    if not found.shapes:
        return None
    heads = ("operator", "shapes", "count", "GPU time", "moved per call", "moved per second", "of bandwidth")
    shown = len(heads) if found.peak_bytes_per_s is not None else len(heads) - 1
    rows = tuple(_row(each)[:shown] for each in found.shapes[:MOST_ROWS])
    return TableBlock(
        "Element-wise operators, copies, reductions and norms by shape", heads[:shown], rows, _note(found, results)
    )


def _row(each: ShapeBandwidth) -> tuple[Value, ...]:
    reached, share = each.bytes_per_s, each.peak_share
    brief, whole = (", ".join(_sizes(shape) for shape in shapes) for shapes in (each.shapes[:_NAMED], each.shapes))
    told = "from cache" if each.cached else "–" if share is None else units.percent(share)
    return (
        each.operator,
        Name(brief, whole),
        TableCell(units.count(each.count), each.count),
        TableCell(units.duration(each.ns), each.ns),
        TableCell(units.size(each.bytes / each.count), each.bytes / each.count),
        TableCell("–" if reached is None else units.rate(reached), reached),
        TableCell(told, share),
    )


def _sizes(shape: Shape) -> str:
    return "×".join(map(str, shape))


def _note(found: Bandwidth, results: Results) -> str:
    more = len(found.shapes) - MOST_ROWS
    words = [f"The first {MOST_ROWS} of {units.count(len(found.shapes))} shapes."] if more > 0 else []
    words.append(bandwidth_words(results))
    if found.covered_share is not None:
        words.append(f"These rows are {units.percent(found.covered_share)} of all kernel time.")
    words.append("Bytes are the least that has to be moved: each input read once, the result written once.")
    if any(each.cached for each in found.shapes):
        words.append(
            "From cache: faster than the memory, also where an input is one tensor expanded to a larger shape."
        )
    return " ".join(word for word in words if word)
