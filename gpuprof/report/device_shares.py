"""For whose sake the device works, in words: where to look when the device is the bottleneck."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.device.device_spots import DeviceSpot, DeviceSpots
from gpuprof.analyses.run.plain_budget import PlainBudget
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model.kernel_names import function_name
from gpuprof.report.source_place import SourcePlace
from gpuprof.rules.base.finding import Finding

LARGEST = "The largest shares of the device’s work"
_BOUND = 0.5
_SPOTS_NAMED = 2
# of a spot's time: less of it backward is not worth a word
_WORTH_SAYING = 0.1


def device_bound(results: Results) -> bool:
    """Whether the device computes for most of the time: then host code is not where that time can be saved."""
    return busy_share(results) >= _BOUND and bool(results.get(DeviceSpots).spots)


def busy_share(results: Results) -> float:
    """The part of an iteration without the recording, else of the recording, in which the device computes, 0..1. Time
    in which it did unrecorded work does not count."""
    budget, plain = results.get(TimeBudget), results.get(PlainBudget)
    if budget.device is None:
        return 0.0
    if plain.total_ns is not None:
        return plain.shares.get("compute", 0.0)
    known_ns = budget.total_ns - budget.ns("idle_unrecorded")
    return budget.ns("compute") / known_ns if known_ns else 0.0


def device_goes_to(results: Results) -> str:
    """`The largest shares of the device’s work: 61 % line 50 of the cell (…); 9 % …`; empty where none is known."""
    spots = results.get(DeviceSpots).spots[:_SPOTS_NAMED]
    return f"{LARGEST}: {'; '.join(in_short(results, each) for each in spots)}." if spots else ""


def unexplained_spot(results: Results, findings: tuple[Finding, ...]) -> DeviceSpot | None:
    """The largest spot that none of these findings has among its lines; a finding without lines, whose saving is as
    large, speaks of it too."""
    for spot in results.get(DeviceSpots).spots:
        if spot.line is not None and not any(_speaks_of(results, each, spot) for each in findings):
            return spot
    return None


def in_short(results: Results, spot: DeviceSpot) -> str:
    """`61 % line 50 of the cell (aten::scaled_dot_product_attention, 69 % of it backward, most in kernel …)`."""
    place, called = _place(results, spot)
    backward = f"{units.percent(spot.backward_share)} of it backward" if spot.backward_share >= _WORTH_SAYING else ""
    parts = [called, ran(spot) if place else "", backward, f"kernel {kernel(spot)}" if kernel(spot) else ""]
    told = ", ".join(each for each in parts if each)
    return f"{units.percent(spot.share)} {place or ran(spot)}" + (f" ({told})" if told else "")


def where(results: Results, spot: DeviceSpot) -> str:
    """`line 50 of the cell`, `line 7 of In [3] (called from line 4 of the cell)`; empty where no line is known."""
    place, called = _place(results, spot)
    return f"{place} ({called})" if called else place


def ran(spot: DeviceSpot) -> str:
    """The operator that asked for it, else the kernel."""
    return function_name(spot.operator or spot.kernel)


def kernel(spot: DeviceSpot) -> str:
    """The name of the heaviest kernel's function; empty where it says nothing new."""
    name = function_name(spot.kernel)
    return "" if name == ran(spot) else name


def _place(results: Results, spot: DeviceSpot) -> tuple[str, str]:
    """Its line, and the line of the cell that led there where it is another cell's."""
    if spot.line is None or spot.source_file is None:
        return "", ""
    file = SourcePlace.of(results.trace, spot.source_file)
    title = "another file" if file is None else "the cell" if file.profiled and not file.file else file.title
    called = f"called from line {spot.cell_line} of the cell" if spot.cell_line and not (file and file.profiled) else ""
    return f"line {spot.line} of {title}", called


def _speaks_of(results: Results, finding: Finding, spot: DeviceSpot) -> bool:
    if finding.where.lines:
        return not {spot.line, spot.cell_line}.isdisjoint(finding.where.lines)
    return finding.saving is not None and finding.saving.share >= spot.share * busy_share(results)
