"""The Transfers tab: every copy, by direction and by size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.model.kinds import CopyKind, HostMemory
from gpuprof.model.table import Array, Table
from gpuprof.report import Report
from gpuprof.views.blocks import Block, Sentence, TableBlock, TableCell
from gpuprof.views.copy_words import DIRECTIONS
from gpuprof.views.sections.longest_copies import longest_copies
from gpuprof.views.sections.section import Section

MOST_GROUPS = 100


def _blocks(report: Report) -> list[Block]:
    """Totals by direction, copies alike in direction, host memory and size as one row, and the longest one by one."""
    copies = report.results.get(Copies)
    if not len(copies.table):
        return [Sentence(_why_none(report.results))]
    return [_totals(copies), _groups(copies.table), longest_copies(report)]


def _why_none(results: Results) -> str:
    recorded = results.trace.device_recorded
    if recorded is None:
        return "No device was recorded in this run, so there are no copies to show."
    if recorded is False:
        return "Device activity was not captured, so copies are unknown."
    return "The recording holds no copy."


def _totals(copies: Copies) -> TableBlock:
    rows = tuple(
        (
            DIRECTIONS[direction],
            TableCell(units.count(total.count), total.count),
            TableCell(units.size(total.bytes), total.bytes),
            TableCell(units.duration(total.ns), total.ns),
            TableCell(units.duration(total.exposed_ns), total.exposed_ns),
            TableCell(units.duration(total.host_blocked_ns), total.host_blocked_ns),
            TableCell(units.rate(total.bandwidth_bytes_per_s), total.bandwidth_bytes_per_s),
        )
        for direction, total in copies.totals.items()
    )
    return TableBlock(
        "Copies by direction",
        ("direction", "copies", "size", "time on the device", "exposed", "host blocked", "bandwidth"),
        rows,
        "Exposed: no compute kernel ran meanwhile. Host blocked: time the host stood in the copying call or in the "
        "synchronise that follows it in the same operator. Bandwidth: bytes ÷ time on the device.",
    )


def _groups(table: Table) -> TableBlock:
    groups = sorted(_grouped(table), key=lambda rows: -int(table["duration_ns"][rows].sum()))
    left_out = len(groups) - MOST_GROUPS
    note = "Copies of the same direction, host memory and size are one row, the longest total time first."
    return TableBlock(
        "Copies by size",
        ("direction", "host memory", "size each", "copies", "total time", "median bandwidth", "exposed"),
        tuple(_group_row(table, rows) for rows in groups[:MOST_GROUPS]),
        note + (f" {units.plural(left_out, 'shorter group')} not shown." if left_out > 0 else ""),
    )


def _grouped(table: Table) -> Iterator[Array]:
    keys = np.stack(
        [table["direction"].astype(np.int64), table["host_memory"].astype(np.int64), table["bytes"]], axis=1
    )
    _, group = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    edges = np.flatnonzero(np.diff(group.ravel()[order])) + 1
    yield from np.split(order, edges)


def _group_row(table: Table, rows: Array) -> tuple[str | TableCell, ...]:
    first = int(rows[0])
    memory = HostMemory(int(table["host_memory"][first]))
    size = int(table["bytes"][first])
    time = int(table["duration_ns"][rows].sum())
    rates = table["bandwidth_bytes_per_s"][rows]
    rate = float(np.nanmedian(rates)) if np.isfinite(rates).any() else None
    exposed = int(table["exposed_ns"][rows].sum())
    return (
        DIRECTIONS[CopyKind(int(table["direction"][first]))],
        "–" if memory is HostMemory.NONE else memory.name.lower(),
        TableCell(units.size(size if size >= 0 else None), size if size >= 0 else None),
        TableCell(units.count(len(rows)), len(rows)),
        TableCell(units.duration(time), time),
        TableCell(units.rate(rate), rate),
        TableCell(units.duration(exposed), exposed),
    )


SECTION = Section(
    order=20, key="transfers", title="Transfers", known=lambda report: True, blocks=_blocks, chart="transfers"
)
