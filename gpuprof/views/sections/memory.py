"""The Memory tab: peaks, limits, and how the allocation moved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import PeakParts
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.views import memory_parts
from gpuprof.views.blocks import Block, CurveBlock, Sentence, TableBlock, TableCell, curve_block
from gpuprof.views.sections.section import Section

_NO_COURSE = "How the allocation moved over time was not recorded: profile with --memory."


def _blocks(report: Report) -> list[Block]:
    """What the peak is made of, a table of peaks, a curve for each device and for the host, what the notebook holds."""
    results = report.results
    peak = results.get(MemoryPeak)
    uses = [*peak.devices, *([peak.host] if peak.host else [])]
    blocks = [block for parts in memory_parts.known_parts(results) for block in _composition(parts)]
    if uses:
        blocks.append(_table(uses, results.trace))
        curves = [block for use in uses if (block := _curve(use, results.trace)) is not None]
        blocks += curves or [Sentence(_NO_COURSE)]
    else:
        blocks.append(Sentence(_why_none(results.trace)))
    return [*blocks, *_held(results)]


def _why_none(trace: Trace) -> str:
    if trace.source.kind == "kineto" and trace.context.cell is None:
        return "This trace holds no allocations: torch.profiler records them with profile_memory=True."
    return "Allocations were not recorded in this run; profile with --memory to see the peak."


def _composition(parts: PeakParts) -> list[Block]:
    rows = memory_parts.part_rows(parts)
    table = TableBlock(
        f"What the peak is made of: {memory_parts.place(parts)}",
        ("part", "bytes", "share of the peak"),
        tuple(
            (row.label, TableCell(row.text, row.bytes), TableCell(memory_parts.share_text(row), row.share))
            for row in rows
        ),
        "Parameters, gradients, optimizer state and buffers by storage: memory that is shared counts once. Activations "
        f"and temporaries: all else that was allocated at the peak. {memory_parts.around_note(parts)}".rstrip(),
    )
    modules = memory_parts.module_rows(parts)
    if len(modules) < 2:
        return [table]
    by_module = TableBlock(
        "By part of the model",
        ("part", "parameters", "gradients", "optimizer state", "buffers"),
        tuple(
            (
                row.name,
                _size(row.parameter_bytes),
                _size(row.gradient_bytes),
                _size(row.state_bytes),
                _size(row.buffer_bytes),
            )
            for row in modules
        ),
        "Gradients: those that are there at the end of a step.",
    )
    return [table, by_module]


def _held(results: Results) -> list[Block]:
    held = memory_parts.held_rows(results)
    if not held:
        return []
    rows = tuple(
        (
            row.name,
            memory_parts.KINDS.get(row.kind, row.kind),
            row.device,
            _size(row.bytes),
            _size(row.graph_bytes),
            TableCell(units.count(row.tensors), row.tensors),
            "" if row.used else "not mentioned in this cell",
        )
        for row in held
    )
    note = (
        "At the end of the cell, and variables of functions when the process was about largest; memory that several "
        "names share stands under the first. Kept by graphs: activations for a backward pass that has not run."
    )
    return [
        TableBlock(
            "What the notebook holds",
            ("name", "kind", "device", "bytes", "kept by graphs", "tensors, arrays", ""),
            rows,
            note,
        )
    ]


def _where(use: MemoryUse) -> str:
    if use.device is None:
        return "host"
    return f"device {use.device}" + (f" ({use.name})" if use.name else "")


def _table(uses: list[MemoryUse], trace: Trace) -> TableBlock:
    figures: list[tuple[str, Callable[[MemoryUse], TableCell]]] = [
        ("peak allocated", _peak),
        ("reached at", lambda use: _at(use.peak_at_ns, trace)),
        ("peak reserved", lambda use: _size(use.peak_reserved_bytes)),
        ("limit", lambda use: _size(use.limit_bytes)),
        ("comes and goes", lambda use: _size(use.transient_bytes)),
        ("growth a step", lambda use: _size(use.growth_per_step_bytes)),
        ("allocator retries", lambda use: _times(use.retries)),
        ("out-of-memory errors", lambda use: _times(use.ooms)),
    ]
    read = [(label, [figure(use) for use in uses]) for label, figure in figures]
    rows: list[tuple[str | TableCell, ...]] = [
        (label, *cells) for label, cells in read if any(cell.value is not None for cell in cells)
    ]
    sources = "; ".join(f"{_where(use)}: {use.source}" for use in uses) if len(uses) > 1 else uses[0].source
    return TableBlock(
        "Peaks",
        ("memory", *map(_where, uses)),
        tuple(rows),
        "Allocated: live tensors. Reserved: held by the caching allocator. The two peaks may be at different instants. "
        "Comes and goes: the peak less the least that was allocated during the steps after the first one. "
        "Growth: median change of a step’s least allocation from one step to the next. "
        f"Where the peaks come from: {sources}.",
        sortable=False,
    )


def _peak(use: MemoryUse) -> TableCell:
    above = " above the start" if use.relative and use.whole_peak_bytes is None else ""
    return TableCell(units.size(use.peak_allocated_bytes) + above, use.peak_allocated_bytes)


def _at(time_ns: int | None, trace: Trace) -> TableCell:
    since = None if time_ns is None else time_ns - trace.span_start_ns
    return TableCell(units.duration(since), since)


def _times(number: int | None) -> TableCell:
    return TableCell(units.UNKNOWN if number is None else units.count(number), number)


def _size(count: float | None) -> TableCell:
    return TableCell(units.size(count), count)


def _curve(use: MemoryUse, trace: Trace) -> CurveBlock | None:
    known = use.allocated_bytes >= 0
    if int(known.sum()) < 2:
        return None
    time, value = use.time_ns[known], use.allocated_bytes[known].astype(np.float64)
    top = float(value.max())
    counted = ", counted from the start of the recording" if use.relative else ""
    caption = f"Allocated on {'the host' if use.device is None else _where(use)}{counted}: peak {units.size(top)}"
    within = (float(trace.span_start_ns), float(max(trace.span_end_ns, time[-1])))
    if within[1] <= within[0]:
        return None
    return curve_block(caption, "memory", time, value, top=top, top_text=units.size(top), within=within)


SECTION = Section(order=30, key="memory", title="Memory", known=lambda report: True, blocks=_blocks, chart="memory")
