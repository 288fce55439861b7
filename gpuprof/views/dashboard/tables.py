"""Rows of the dashboard's tables, out of Results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpuprof.analyses.copies import Copies, DirectionTotals
from gpuprof.analyses.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.model.table import Array
from gpuprof.units import UNKNOWN, count, duration, size
from gpuprof.views import memory_parts

if TYPE_CHECKING:
    from gpuprof.report import Report

LONGEST = 12
DIRECTIONS = {
    CopyKind.H2D: "host to device",
    CopyKind.D2H: "device to host",
    CopyKind.D2D: "within the device",
    CopyKind.P2P: "between devices",
    CopyKind.H2H: "within the host",
}
HOST_MEMORY = {HostMemory.PAGEABLE: "pageable", HostMemory.PINNED: "pinned", HostMemory.UNKNOWN: "unknown"}


@dataclass(frozen=True)
class CopyTotal:
    """All copies of one direction; `memory` says how many of them were pageable, pinned or unknown."""

    direction: str
    totals: DirectionTotals
    memory: str


@dataclass(frozen=True)
class CopyRow:
    """One copy, ready to print; `operator` is the name of the operator that issued it, empty if unknown."""

    start_ns: int
    duration_ns: int
    bytes: int | None
    direction: str
    memory: str
    bandwidth_bytes_per_s: float
    exposed_ns: int
    host_blocked_ns: int | None
    operator: str


def copy_totals(report: Report) -> list[CopyTotal]:
    """One row a direction, in the order of CopyKind."""
    copies = report.results.get(Copies)
    return [
        CopyTotal(_direction(kind), copies.totals[kind], _memory_words(copies.of_direction(kind)["host_memory"]))
        for kind in sorted(copies.totals)
    ]


def longest_copies(report: Report) -> list[CopyRow]:
    """The copies whose exposed time is longest, at most twelve."""
    table, trace = report.results.get(Copies).table, report.trace
    order = np.lexsort((-table["duration_ns"], -table["exposed_ns"]))[:LONGEST]
    operators = trace.operators["name"]
    return [
        CopyRow(
            start_ns=int(table["start_ns"][row]) - trace.span_start_ns,
            duration_ns=int(table["duration_ns"][row]),
            bytes=_known(int(table["bytes"][row])),
            direction=_direction(int(table["direction"][row])),
            memory=HOST_MEMORY.get(HostMemory(int(table["host_memory"][row])), ""),
            bandwidth_bytes_per_s=float(table["bandwidth_bytes_per_s"][row]),
            exposed_ns=int(table["exposed_ns"][row]),
            host_blocked_ns=_known(int(table["host_blocked_ns"][row])),
            operator=trace.names[operators[operator]] if (operator := int(table["operator"][row])) >= 0 else "",
        )
        for row in order
    ]


def memory_uses(report: Report) -> list[tuple[str, MemoryUse]]:
    """Every device and the host, named, where a peak is known."""
    peak = report.results.get(MemoryPeak)
    named = [(use.name or f"device {use.device}", use) for use in peak.devices]
    if peak.host is not None:
        named.append(("host", peak.host))
    return [(name, use) for name, use in named if use.peak_allocated_bytes is not None]


def memory_rows(report: Report, uses: list[tuple[str, MemoryUse]]) -> list[tuple[str, list[str]]]:
    """One row a figure, one text a device; a figure that nobody has is left out."""
    figures: list[tuple[str, Callable[[MemoryUse], str | None]]] = [
        ("peak allocated", lambda use: _size(use.peak_allocated_bytes, " above the start" if use.relative else "")),
        ("reached at", lambda use: _at(use.peak_at_ns, report.trace.span_start_ns)),
        ("peak reserved by the caching allocator", lambda use: _size(use.peak_reserved_bytes)),
        ("limit", lambda use: _size(use.limit_bytes)),
        ("comes and goes within a step", lambda use: _size(use.transient_bytes)),
        ("growth from step to step (median)", lambda use: _size(use.growth_per_step_bytes)),
        ("allocator retries", lambda use: None if use.retries is None else count(use.retries)),
        ("out-of-memory errors", lambda use: None if use.ooms is None else count(use.ooms)),
        ("source of the peak", lambda use: use.source),
    ]
    rows = [(label, [read(use) for _, use in uses]) for label, read in figures]
    return [(label, [UNKNOWN if value is None else value for value in values]) for label, values in rows if any(values)]


def composition_rows(report: Report) -> list[tuple[str, list[tuple[str, list[str]]]]]:
    """`(place, rows)` for each known composition: one row a part, with its bytes and its share of the peak."""
    return [
        (
            memory_parts.place(parts),
            [(row.label, [row.text, memory_parts.share_text(row)]) for row in memory_parts.part_rows(parts)],
        )
        for parts in memory_parts.known_parts(report.results)
    ]


def _size(value: float | None, more: str = "") -> str | None:
    return None if value is None else size(value) + more


def _at(time_ns: int | None, origin_ns: int) -> str | None:
    return None if time_ns is None else duration(time_ns - origin_ns)


def _direction(kind: int) -> str:
    return DIRECTIONS.get(CopyKind(kind), "unknown direction")


def _memory_words(column: Array) -> str:
    counts = {words: int((column == code).sum()) for code, words in HOST_MEMORY.items()}
    return ", ".join(f"{number:,} {words}" for words, number in counts.items() if number)


def _known(value: int) -> int | None:
    return value if value >= 0 else None
