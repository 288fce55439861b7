"""The Memory tab: peaks, limits, and how the allocation moved."""

from __future__ import annotations

import numpy as np

from gpuprof import units
from gpuprof.analyses.memory_peak import MemoryPeak, MemoryUse
from gpuprof.analyses.result import Results
from gpuprof.views.html.blocks import Block, Cell, CurveBlock, Section, Sentence, TableBlock, curve_block


def section(results: Results) -> Section:
    """A table of peaks and a curve for each device, and for the host."""
    peak = results.get(MemoryPeak)
    uses = [*peak.devices, *([peak.host] if peak.host else [])]
    if not uses:
        text = "Memory was not recorded in this run; profile with --memory to see it."
        return Section("memory", "Memory", (Sentence(text),))
    blocks: list[Block] = [_table(uses)]
    blocks += [block for use in uses if (block := _curve(use)) is not None]
    return Section("memory", "Memory", tuple(blocks))


def _where(use: MemoryUse) -> str:
    if use.device is None:
        return "host"
    return f"device {use.device}" + (f" ({use.name})" if use.name else "")


def _table(uses: list[MemoryUse]) -> TableBlock:
    rows = tuple(
        (
            _where(use),
            _size(use.peak_allocated_bytes),
            _size(use.peak_reserved_bytes),
            _size(use.limit_bytes),
            _size(use.transient_bytes),
            _size(use.growth_per_step_bytes),
            use.source,
        )
        for use in uses
    )
    return TableBlock(
        "Peaks",
        ("memory", "peak allocated", "peak reserved", "limit", "comes and goes", "growth a step", "source"),
        rows,
        "Allocated: live tensors. Reserved: held by the caching allocator. The two peaks may be at different instants. "
        "Comes and goes: the peak less the least that was allocated during the steps after the first one. "
        "Growth: median change of a step's least allocation from one step to the next.",
    )


def _size(count: float | None) -> Cell:
    return Cell(units.size(count), count)


def _curve(use: MemoryUse) -> CurveBlock | None:
    known = use.allocated_bytes >= 0
    if int(known.sum()) < 2:
        return None
    time, value = use.time_ns[known], use.allocated_bytes[known].astype(np.float64)
    if time[-1] <= time[0]:
        return None
    top = float(value.max())
    counted = ", counted from the start of the recording" if use.relative else ""
    caption = f"Allocated on {'the host' if use.device is None else _where(use)}{counted}: peak {units.size(top)}"
    return curve_block(caption, "memory", time, value, top, units.size(top), units.duration(int(time[-1] - time[0])))
