"""Memory snapshots of torch (`torch.cuda.memory._dump_snapshot`): a pickle of plain lists and dictionaries.

A pickle can run any code while it is read. This one is read by `plain_pickle`, out of which nothing but numbers, texts,
lists, tuples and dictionaries can come. Any of them may stand in many places: nothing here goes twice through the same
object, so that the work grows with the file's length at most.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof import units
from gpuprof.errors import ForeignFileError, UnreadableError
from gpuprof.ingest.assemble import assemble
from gpuprof.ingest.plain_pickle import PickledClassError, PickleError, read_plain
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.schema import MEMORY
from gpuprof.model.table import Table
from gpuprof.model.trace import Source, Trace, empty_tables

SNAPSHOT = "a memory snapshot of torch (torch.cuda.memory._dump_snapshot)"
_PICKLE = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
_GROWS = ("segment_alloc", "segment_map")
_SHRINKS = ("segment_free", "segment_unmap")
_MOST_LINES = 3
_LARGEST_FILE = 2 << 30
_MOST_DEVICES = 1024
_LONGEST_NAME = 200
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
    try:
        content = _unpickled(path)
        devices = [_Device.of(number, *each) for number, each in sorted(_by_device(content).items())]
        tables = {**empty_tables(), "memory": _table(devices)}
        notes = [note for device in devices for note in device.notes()]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        found = f"{type(error).__name__}: {error}"[:_LONGEST_NAME]
        raise UnreadableError(path, f"the snapshot is not as torch writes it ({found})", expected=SNAPSHOT) from error
    except MemoryError as error:
        raise UnreadableError(
            path, "there is not enough memory to read it", expected=f"{SNAPSHOT} that fits"
        ) from error
    about = "This is a memory snapshot: it shows what was allocated and when, no times of operators or kernels."
    source = Source(path=str(path), kind="snapshot", platform="cuda", notes=(about, *notes))
    return assemble(tables, (), source)


def _unpickled(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > _LARGEST_FILE:
                what = f"the file has {units.size(size)}, more than {units.size(_LARGEST_FILE)}"
                raise UnreadableError(path, what, expected=f"{SNAPSHOT} with a shorter history (`max_entries`)")
            content = read_plain(file.read())
    except OSError as error:
        raise UnreadableError(path, f"cannot be opened ({error.strerror})", expected=SNAPSHOT) from error
    except PickledClassError as error:
        wanted = ascii(str(error))[1:-1][:100]
        raise ForeignFileError(
            path, f"this pickle wants to load {wanted}, which could run any code; nothing was run", expected=SNAPSHOT
        ) from error
    except PickleError as error:
        raise UnreadableError(
            path, f"this pickle cannot be read ({error})", where=f"byte {error.at:,}", expected=SNAPSHOT
        ) from error
    if not isinstance(content, dict) or not isinstance(content.get("segments"), list):
        raise ForeignFileError(path, "this is a pickle of something else", expected=SNAPSHOT)
    return content


_Dicts = list[dict[str, Any]]


def _by_device(content: dict[str, Any]) -> dict[int, tuple[_Dicts, _Dicts]]:
    """The segments and the history of each device that has any."""
    found: dict[int, tuple[_Dicts, _Dicts]] = {}
    for segment in _dicts(content["segments"], "segments"):
        found.setdefault(_number(segment, "device"), ([], []))[0].append(segment)
    traces = content.get("device_traces") or []
    if len({id(each) for each in traces if each}) < sum(map(bool, traces)):
        raise ValueError("two devices share one history")
    found |= {i: (found.get(i, ([], []))[0], _dicts(each, "device_traces")) for i, each in enumerate(traces) if each}
    if found and not 0 <= min(found) <= max(found) < _MOST_DEVICES:
        raise ValueError(f"`device` should be between 0 and {_MOST_DEVICES - 1}")
    return found


def _dicts(value: object, key: str) -> _Dicts:
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise TypeError(f"`{key}` should be a list of dictionaries")
    return value


def _number(each: dict[str, Any], key: str) -> int:
    """What stands there, if it is a whole number: text would be read again wherever it stands."""
    value = each[key]
    if not isinstance(value, int):
        raise TypeError(f"`{key}` is a {type(value).__name__} where a number should stand")
    return value


def _text(each: dict[str, Any], key: str) -> str:
    value = each.get(key, "")
    if not isinstance(value, str):
        raise TypeError(f"`{key}` is a {type(value).__name__} where a name should stand")
    return value


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
    def of(cls, number: int, segments: _Dicts, history: _Dicts) -> _Device:
        allocated = sum(_number(each, "allocated_size") for each in segments)
        reserved = sum(_number(each, "total_size") for each in segments)
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
    history: _Dicts, allocated: int, reserved: int
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
    lines = _Lines()
    highest, at_peak = -1, {}
    peak = int(np.argmax(np.cumsum([moved for _, (moved, _) in moves]))) if moves else -1
    for index, (event, (moved, grown)) in enumerate(moves):
        live, held = live + moved, held + grown
        address = _number(event, "addr")
        if moved:
            values = (_number(event, "time_us") * _NS_PER_US, moved, address & (2**63 - 1), live, held)
            for column, value in zip(rows.values(), values, strict=True):
                column.append(value)
        if moved > 0:
            blocks[address] = (moved, lines.of(event))
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
    action, size = event["action"], _number(event, "size") if event.get("size") else 0
    allocated = size if action == "alloc" else -size if action == released else 0
    return allocated, size if action in _GROWS else -size if action in _SHRINKS else 0


class _Lines:
    """`model.py:54 (forward)` of an event: its innermost frame outside of libraries; empty without frames."""

    def __init__(self) -> None:
        self._of_frames: dict[int, str] = {}
        self._files: dict[str, str] = {}

    def of(self, event: dict[str, Any]) -> str:
        """The line of one event; the events of one list of frames share it."""
        frames = event.get("frames")
        if not frames:
            return ""
        if id(frames) not in self._of_frames:
            self._of_frames[id(frames)] = next(filter(None, map(self._line, _dicts(frames, "frames"))), "")
        return self._of_frames[id(frames)]

    def _line(self, frame: dict[str, Any]) -> str:
        path = _text(frame, "filename")
        if path not in self._files:
            self._files[path] = _own_file(path)
        if not (file := self._files[path]):
            return ""
        number = _number(frame, "line") if "line" in frame else 0
        return f"{file}:{number} ({_text(frame, 'name')[:_LONGEST_NAME]})"


def _own_file(path: str) -> str:
    """The name of a file of the user; empty for one of a library."""
    path = path.replace("\\", "/")
    return "" if any(part in path for part in _LIBRARIES) else path.rpartition("/")[2][:_LONGEST_NAME]


def _table(devices: list[_Device]) -> Table:
    columns: dict[str, list[int]] = defaultdict(list)
    for device in devices:
        for name, values in device.rows.items():
            columns[name].extend(values)
        columns["device"].extend([device.number] * len(device.rows["time_ns"]))
    columns["device_type"] = [MemoryDevice.CUDA] * len(columns["device"])
    return Table(MEMORY, columns)
