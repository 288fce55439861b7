"""How fast memory-bound kernels move data: as the JSON has it, and in one sentence."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.bandwidth import Bandwidth, ShapeBandwidth
from gpuprof.units import milliseconds, percent, rate

MOST_SHAPES = 50
# of all kernels: less is not worth a sentence
_WORTH_SAYING = 0.05


def bandwidth_dict(results: Results) -> dict[str, Any] | None:
    """The sums, and the shapes that took longest, 50 at most; None where no such kernel has known shapes."""
    found = results.get(Bandwidth)
    if not found.shapes:
        return None
    return {
        "bytes": found.bytes,
        "ms": milliseconds(found.ns),
        "covered_share": found.covered_share,
        "bytes_per_s": found.bytes_per_s,
        "peak_bytes_per_s": found.peak_bytes_per_s,
        "peak_share": found.peak_share,
        "shapes": [_shape(each) for each in found.shapes[:MOST_SHAPES]],
    }


def bandwidth_words(results: Results) -> str:
    """Percent of the bandwidth while they run; empty where it is unknown, or they are next to nothing."""
    found = results.get(Bandwidth)
    if found.peak_share is None or found.bytes_per_s is None or (found.covered_share or 0.0) < _WORTH_SAYING:
        return ""
    return (
        f"Element-wise operators, copies, reductions and norms ({percent(found.covered_share)} of the kernel time) "
        f"move at least {rate(found.bytes_per_s)} while they run, {percent(found.peak_share)} of the memory bandwidth."
    )


def _shape(each: ShapeBandwidth) -> dict[str, Any]:
    return {
        "operator": each.operator,
        "shapes": [list(shape) for shape in each.shapes],
        "count": each.count,
        "bytes": each.bytes,
        "ms": milliseconds(each.ns),
        "bytes_per_s": each.bytes_per_s,
        "peak_share": each.peak_share,
    }
