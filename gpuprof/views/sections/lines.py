"""The Lines tab: the source with the time of every line, and a table of all that is known of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.cell_time import CellTime
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.model.table import Array
from gpuprof.report import Report
from gpuprof.views import line_gains
from gpuprof.views.blocks import Block, Meter, Sentence, SourceBlock, SourceLine, TableBlock, TableCell
from gpuprof.views.cell_lines import cell_lines
from gpuprof.views.sections.section import Section
from gpuprof.views.source_rows import SourceListing, SourceRow, file_title, listings, meaning
from gpuprof.whatif.line_profile import FASTER_SHARES, HALVED, LineGain, LineProfile

MOST_ROWS = 100


def _known(report: Report) -> bool:
    # a recording could have lines: where it has none, the tab says why
    results = report.results
    return (
        bool(results.get(LineCosts).table)
        or bool(results.get(CellTime).table)
        or report.trace.source.kind == "recording"
    )


def _blocks(report: Report) -> list[Block]:
    """The annotated source, then the figures of each line."""
    results = report.results
    lines, profile = results.get(LineCosts), results.get(LineProfile)
    whole = cell_lines(results)
    if not lines.table:
        return [*whole, Sentence(_why_none(results))]
    hidden, gains = line_gains.hidden_sentence(results), line_gains.meaning(profile)
    return [
        *whole,
        Sentence(f"{_summary(lines)} {hidden}".strip()),
        *(_annotated(listing, lines, profile) for listing in listings(results, report.findings)),
        Sentence(f"{meaning(lines)} {gains}".strip()),
        *([_gains(results, profile)] if profile.lines else []),
        _table(results, lines),
    ]


def _why_none(results: Results) -> str:
    if results.trace.context.options.get("no_lines"):
        return "The run was profiled with --no-lines."
    if results.trace.context.lines is None:
        return "No line of the notebook was seen in this run."
    return "No line that was followed ran while the device and the host were recorded."


def _summary(lines: LineCosts) -> str:
    host = units.percent(lines.host_ns / lines.within_ns) if lines.within_ns else "none"
    text = f"{host} of {units.duration(lines.within_ns)} of host time"
    if lines.device_ns:
        known = units.percent(lines.device_known_ns / lines.device_ns)
        text += f" and {known} of {units.duration(lines.device_ns)} of device work"
    text += " can be given to lines."
    return text


def _annotated(listing: SourceListing, lines: LineCosts, profile: LineProfile) -> SourceBlock:
    columns = ["host", *(["device"] if lines.device_ns else []), *([line_gains.COLUMN] if profile.lines else [])]
    rows = tuple(_source_line(row, lines, profile) for row in listing.rows)
    return SourceBlock(listing.title[0].upper() + listing.title[1:], tuple(columns), rows)


def _source_line(row: SourceRow, lines: LineCosts, profile: LineProfile) -> SourceLine:
    meters = [_meter("operator", row.host_ns, row.host_share)]
    if lines.device_ns:
        meters.append(_meter("kernel", row.device_ns, row.device_share))
    if profile.lines:
        meters.append(_gain_meter(row.gain, profile))
    return SourceLine(row.number, row.text, tuple(meters), row.findings)


def _gain_meter(gain: LineGain | None, profile: LineProfile) -> Meter | None:
    if gain is None:
        return None
    if gain.gain_ns is None:
        return Meter("reading", units.UNKNOWN, "", 0.0)
    halved = max(gain.gain_ns[HALVED], 0)
    share = profile.share(halved)
    return Meter("reading", line_gains.saved(halved), units.percent(share) if halved else "", min(share, 1.0))


def _meter(kind: str, ns: int | None, share: float | None) -> Meter | None:
    if not ns or share is None:
        return None
    return Meter(kind, units.duration(ns), units.percent(share), min(share, 1.0))


def _table(results: Results, lines: LineCosts) -> TableBlock:
    table = lines.table
    order = np.lexsort((-table["host_ns"], -table["device_ns"]))
    columns = [column for column in _COLUMNS if _worth_showing(table[column[1]])]
    rows: list[tuple[str | TableCell, ...]] = []
    for row in order[:MOST_ROWS]:
        title = file_title(results.trace, int(table["source_file"][row]))
        figures = (TableCell(text(int(table[name][row])), int(table[name][row])) for _, name, text in columns)
        rows.append((f"line {table['line'][row]} of {title}", *figures))
    left_out = len(table) - MOST_ROWS
    note = "Times in which the host waits are part of its own time. Allocated: bytes that torch’s allocator gave out"
    note += f" on the {lines.allocated_on}, released ones included." if lines.allocated_on else " were not recorded."
    if left_out > 0:
        note += f" {units.plural(left_out, 'line')} with less not shown."
    return TableBlock("Lines by cost", ("line", *(head for head, _, _ in columns)), tuple(rows), note)


def _gains(results: Results, profile: LineProfile) -> TableBlock:
    rows = []
    for each in profile.lines:
        name = f"line {each.line} of {file_title(results.trace, each.source_file)}"
        gains = each.gain_ns or (None,) * len(FASTER_SHARES)
        cells = (TableCell(units.UNKNOWN if ns is None else line_gains.saved(ns), ns) for ns in gains)
        rows.append((name, each.kind.value, *cells))
    heads = ("line", "the line is", *(f"{units.percent(share)} less time" for share in FASTER_SHARES))
    note = "By how much the run gets shorter if the line takes that much less time, on the host and on the device."
    if profile.reasons:
        note += f" Grade {profile.grade}: {'; '.join(profile.reasons)}."
    return TableBlock("What a faster line would save", heads, tuple(rows), note)


def _worth_showing(values: Array) -> bool:
    return bool((values > 0).any())


_COLUMNS: tuple[tuple[str, str, Callable[[int], str]], ...] = (
    ("began", "times", units.count),
    ("host, own", "host_ns", units.duration),
    ("device", "device_ns", units.duration),
    ("operators", "operators", units.count),
    ("launches", "launches", units.count),
    ("wait for the device", "sync_wait_ns", units.duration),
    ("wait for data", "input_wait_ns", units.duration),
    ("host to device", "h2d_bytes", units.size),
    ("device to host", "d2h_bytes", units.size),
    ("allocated", "allocated_bytes", units.size),
)


SECTION = Section(order=10, key="lines", title="Lines", known=_known, blocks=_blocks)
