"""The copies that cost most, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuprof import units
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.views.blocks import TableBlock, TableCell
from gpuprof.views.copy_words import DIRECTIONS

if TYPE_CHECKING:
    from gpuprof.report import Report

LONGEST = 100
_HEADS = ("direction", "host memory", "at", "size", "time", "bandwidth", "exposed", "host blocked", "operator")


def longest_copies(report: Report) -> TableBlock:
    """The copies whose exposed time is longest, at most a hundred."""
    table, trace = report.results.get(Copies).table, report.trace
    order = np.lexsort((-table["duration_ns"], -table["exposed_ns"]))[:LONGEST]
    operators = trace.operators["name"]
    rows = []
    for row in order.tolist():
        start = int(table["start_ns"][row]) - trace.span_start_ns
        bytes_, blocked = _known(int(table["bytes"][row])), _known(int(table["host_blocked_ns"][row]))
        rate, memory = float(table["bandwidth_bytes_per_s"][row]), HostMemory(int(table["host_memory"][row]))
        lasted, exposed = int(table["duration_ns"][row]), int(table["exposed_ns"][row])
        operator = int(table["operator"][row])
        rows.append(
            (
                DIRECTIONS[CopyKind(int(table["direction"][row]))],
                "–" if memory is HostMemory.NONE else memory.name.lower(),
                TableCell(units.duration(start), start),
                TableCell(units.size(bytes_), bytes_),
                TableCell(units.duration(lasted), lasted),
                TableCell(units.rate(rate), rate if np.isfinite(rate) else None),
                TableCell(units.duration(exposed), exposed),
                TableCell(units.duration(blocked), blocked),
                trace.names[operators[operator]] if operator >= 0 else units.UNKNOWN,
            )
        )
    shown = "" if len(table) <= LONGEST else f", the first {LONGEST} of {units.count(len(table))}"
    note = "At: since the beginning of the recording."
    return TableBlock(f"The copies with the most exposed time{shown}", _HEADS, tuple(rows), note)


def _known(value: int) -> int | None:
    return value if value >= 0 else None
