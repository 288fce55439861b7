"""Memory snapshots of torch (`torch.cuda.memory._dump_snapshot`): a pickle of plain lists and dictionaries.

A pickle can run any code while it is read. This one is read by an unpickler that refuses every class and function, so
that nothing but numbers, texts, lists and dictionaries can come out of it.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gpuprof import units
from gpuprof.errors import ForeignFileError, UnreadableError
from gpuprof.ingest.assemble import assemble
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.schema import MEMORY
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables

SNAPSHOT = "a memory snapshot of torch (torch.cuda.memory._dump_snapshot)"
_PICKLE = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
_GROWS = ("segment_alloc", "segment_map")
_SHRINKS = ("segment_free", "segment_unmap")
_MOST_LINES = 3
_LIBRARIES = ("site-packages", "dist-packages", "/torch/", "<")
_NS_PER_US = 1000


def is_pickle(path: Path) -> bool:
    """Whether the file begins like a pickle; False where it cannot be opened (reading it will say why)."""
    try:
        with path.open("rb") as file:
            return file.read(2) in _PICKLE
    except OSError:
        return False


def load_snapshot(path: Path) -> Trace:
    """A Trace of nothing but memory: one row an allocation or release of the snapshot's history, if it has one.

    ForeignFileError where the pickle is no memory snapshot or wants a class loaded, UnreadableError where it is broken.
    """
    content = _unpickled(path)
    try:
        devices = [_Device.of(number, content) for number in _numbers(content)]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnreadableError(
            path, f"the snapshot is not as torch writes it ({type(error).__name__}: {error})", expected=SNAPSHOT
        ) from error
    tables = {**empty_tables(), "memory": _table(devices)}
    notes = ["This is a memory snapshot: it shows what was allocated and when, no times of operators or kernels."]
    notes += [note for device in devices for note in device.notes()]
    source = Source(path=str(path), kind="snapshot", platform="cuda", notes=tuple(notes))
    return assemble(tables, (), source)


class _RefusingUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise _RefusedError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise _RefusedError("an object from outside")


class _RefusedError(Exception):
    """The pickle wants more than plain data; the message names what."""


def _unpickled(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = _RefusingUnpickler(file).load()
    except OSError as error:
        raise UnreadableError(path, f"cannot be opened ({error.strerror})", expected=SNAPSHOT) from error
    except _RefusedError as error:
        wanted = ascii(str(error))[1:-1][:100]
        raise ForeignFileError(
            path, f"this pickle wants to load {wanted}, which could run any code; nothing was run", expected=SNAPSHOT
        ) from error
    except Exception as error:  # a damaged pickle may raise anything at all, says the library
        raise UnreadableError(
            path, f"this pickle cannot be read ({type(error).__name__})", expected=SNAPSHOT
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("segments"), list):
        raise ForeignFileError(path, "this is a pickle of something else", expected=SNAPSHOT)
    return content


def _numbers(content: dict[str, Any]) -> list[int]:
    traces = content.get("device_traces") or []
    return sorted({int(each["device"]) for each in content["segments"]} | {i for i, each in enumerate(traces) if each})


@dataclass(frozen=True)
class _Device:
    """One device: what was held when the snapshot was taken, and its history before."""

    number: int
    segments: int
    allocated_bytes: int
    reserved_bytes: int
    ooms: int
    rows: dict[str, list[int]]
    lines: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, number: int, content: dict[str, Any]) -> _Device:
        segments = [each for each in content["segments"] if int(each["device"]) == number]
        allocated = sum(int(each["allocated_size"]) for each in segments)
        reserved = sum(int(each["total_size"]) for each in segments)
        traces = content.get("device_traces") or []
        history = traces[number] if number < len(traces) else []
        rows, lines = _history(history, allocated, reserved)
        ooms = sum(each["action"] == "oom" for each in history)
        return cls(number, len(segments), allocated, reserved, ooms, rows, lines)

    def notes(self) -> Iterator[str]:
        free = 1 - self.allocated_bytes / self.reserved_bytes if self.reserved_bytes else 0.0
        yield (
            f"Device {self.number} when the snapshot was taken: {units.size(self.allocated_bytes)} allocated and "
            f"{units.size(self.reserved_bytes)} reserved in {units.plural(self.segments, 'segment')}, "
            f"{units.percent(free)} of it free."
        )
        if not self.rows["time_ns"]:
            yield (
                f"It holds no history of device {self.number}: call torch.cuda.memory._record_memory_history() first "
                "to see the peak."
            )
        if self.ooms:
            yield f"Device {self.number} ran out of memory {units.plural(self.ooms, 'time')} in the history."
        if self.lines:
            largest = ", ".join(f"{units.size(size)} from {line}" for line, size in self.lines)
            yield f"Allocated in the history and live at the peak of device {self.number}: {largest}."


def _history(
    history: list[dict[str, Any]], allocated: int, reserved: int
) -> tuple[dict[str, list[int]], tuple[tuple[str, int], ...]]:
    """Rows for the memory table, and the lines that allocated most of what was live at the peak.

    `allocated` and `reserved` are those at the end: the history is a part of the run, its totals are counted back.
    """
    # torch's own count of allocated bytes falls when a release is requested, not when the stream has passed it
    released = "free_requested" if any(each["action"] == "free_requested" for each in history) else "free_completed"
    moves = [(each, _moved(each, released)) for each in history if "time_us" in each]
    live = allocated - sum(moved for _, (moved, _) in moves)
    held = reserved - sum(grown for _, (_, grown) in moves)
    rows: dict[str, list[int]] = {
        "time_ns": [],
        "bytes": [],
        "address": [],
        "allocated_bytes": [],
        "reserved_bytes": [],
    }
    blocks: dict[int, tuple[int, str]] = {}
    highest, at_peak = -1, {}
    peak = int(np.argmax(np.cumsum([moved for _, (moved, _) in moves]))) if moves else -1
    for index, (event, (moved, grown)) in enumerate(moves):
        live, held = live + moved, held + grown
        address = int(event["addr"])
        if moved:
            values = (int(event["time_us"]) * _NS_PER_US, moved, address & (2**63 - 1), live, held)
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
        if moved > 0:
            blocks[address] = (moved, _line(event))
        elif moved < 0:
            blocks.pop(address, None)
        if index == peak and live > highest:
            highest, at_peak = live, dict(blocks)
    by_line: dict[str, int] = defaultdict(int)
    for size, line in at_peak.values():
        by_line[line] += size
    by_line.pop("", None)
    return rows, tuple(sorted(by_line.items(), key=lambda each: -each[1])[:_MOST_LINES])


def _moved(event: dict[str, Any], released: str) -> tuple[int, int]:
    """By how much an event changes the allocated and the reserved bytes."""
    action, size = event["action"], int(event.get("size") or 0)
    allocated = size if action == "alloc" else -size if action == released else 0
    return allocated, size if action in _GROWS else -size if action in _SHRINKS else 0


def _line(event: dict[str, Any]) -> str:
    """`model.py:54 (forward)`: the innermost frame outside of libraries; empty without frames."""
    for frame in event.get("frames") or ():
        path = str(frame.get("filename", "")).replace("\\", "/")
        if path and not any(part in path for part in _LIBRARIES):
            return f"{path.rpartition('/')[2]}:{int(frame.get('line', 0))} ({frame.get('name', '')})"
    return ""


def _table(devices: list[_Device]) -> Table:
    columns: dict[str, list[int]] = defaultdict(list)
    for device in devices:
        for name, values in device.rows.items():
            columns[name].extend(values)
        columns["device"].extend([device.number] * len(device.rows["time_ns"]))
    columns["device_type"] = [MemoryDevice.CUDA] * len(columns["device"])
    return Table(MEMORY, columns)
