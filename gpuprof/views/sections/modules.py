"""The Modules tab: time by module of the model, as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuprof import units
from gpuprof.analyses.modules.module_spans import ModuleSource
from gpuprof.analyses.modules.module_times import ModuleTime, ModuleTimes
from gpuprof.report import Report
from gpuprof.views.blocks import Block, Name, TableBlock, TableCell, Value
from gpuprof.views.module_rows import ModuleRow, flat, module_tree
from gpuprof.views.sections.section import Section

MOST_ROWS = 120
_LEAST_SHARE = 0.002
_INDENT = "\u2003"
_Cell = Callable[[ModuleTime], TableCell]
_SOURCES = {
    ModuleSource.CALLS: "Calls of modules were marked while the cell ran.",
    ModuleSource.FRAMES: "Modules are those of the recorded Python stacks, numbered by class as the profiler does it.",
    ModuleSource.RANGES: "No module was recorded: these are the ranges that the program itself named.",
}


def _known(report: Report) -> bool:
    return not report.gate.validity.nothing_holds and bool(report.results.get(ModuleTimes).times)


def _blocks(report: Report) -> Sequence[Block]:
    found = report.results.get(ModuleTimes)
    rows = flat(module_tree(found.times))
    large = [row for row in rows if max(row.time.host_share, row.time.device_share or 0.0) >= _LEAST_SHARE]
    shown = (large or rows)[:MOST_ROWS]
    columns = _columns([row.time for row in shown])
    table = tuple((_name(row), _kind(row), *(cell(row.time) for _, cell in columns)) for row in shown)
    heads = ("module", "class", *(head for head, _ in columns))
    caption = "Ranges of the program" if found.source is ModuleSource.RANGES else "Time by module"
    return [TableBlock(caption, heads, table, _note(found, len(rows) - len(shown)), sortable=False)]


def _columns(times: list[ModuleTime]) -> list[tuple[str, _Cell]]:
    """Those in which something is known."""
    columns = [_CALLS, *_DEVICE, _DEVICE_BACKWARD, *_HOST, _HOST_BACKWARD, _NET]
    return [(head, cell) for head, cell in columns if any(cell(time).value for time in times)]


def _name(row: ModuleRow) -> Value:
    copies = f" × {row.copies}" if row.copies > 1 else ""
    return Name(f"{_INDENT * row.depth}{row.name}{copies}", ".".join(row.path))


def _kind(row: ModuleRow) -> str:
    return row.time.kind


def _note(found: ModuleTimes, left_out: int) -> str:
    words = [_SOURCES[found.source]] if found.source else []
    words.append(
        "A row's time is that of the module and all below it, forward and backward; own time leaves out what is below. "
        "Host shares are of the recorded time, device shares of all device time."
    )
    if any(time.grown_bytes for time in found.times):
        words.append("Net allocated: allocated less released during its forward calls, results included.")
    if found.marked_share < 1:
        words.append(
            f"To keep the cost down, modules were marked for {units.percent(found.marked_share)} of the recording: "
            "times are of that part, shares are scaled up to the whole."
        )
    if left_out > 0:
        words.append(f"Not shown: {units.plural(left_out, 'smaller row')}.")
    return " ".join(words)


def _duration(name: str) -> _Cell:
    def cell(time: ModuleTime) -> TableCell:
        ns = getattr(time, name)
        return TableCell(units.duration(ns), ns)

    return cell


def _share(name: str) -> _Cell:
    def cell(time: ModuleTime) -> TableCell:
        share = getattr(time, name)
        return TableCell(units.percent(share), share)

    return cell


_CALLS: tuple[str, _Cell] = (
    "calls",
    lambda time: TableCell(units.count(time.calls) if time.calls else "–", time.calls),
)
_DEVICE: list[tuple[str, _Cell]] = [
    ("device", _duration("device_ns")),
    ("device share", _share("device_share")),
    ("device, own", _duration("own_device_ns")),
]
_DEVICE_BACKWARD = ("device, backward", _duration("backward_device_ns"))
_HOST: list[tuple[str, _Cell]] = [
    ("host", _duration("host_ns")),
    ("host share", _share("host_share")),
    ("host, own", _duration("own_host_ns")),
]
_HOST_BACKWARD = ("host, backward", _duration("backward_host_ns"))
_NET: tuple[str, _Cell] = ("net allocated", lambda time: TableCell(units.size(time.grown_bytes), time.grown_bytes))
SECTION = Section(order=12, key="modules", title="Modules", known=_known, blocks=_blocks)
