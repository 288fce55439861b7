"""Kineto's JSON, saved once, mended where a name broke it, and packed."""

from __future__ import annotations

import atexit
import gzip
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.model.recording import KINETO

_CHUNK_BYTES = 4 * 1024**2
_PACK_LEVEL = 1
# Kineto up to torch 2.13 writes names as they are: a quote or backslash in a range or file name breaks the JSON.
# A name has a line to itself (2.13), or stands between category and pid (older).
_ANY_ODD = (  # apart, each with its literal beginning: an alternation is four times slower
    re.compile(rb'",\n    "name": "[^"\\\n]*(?:\\|"(?!,?\n))'),
    re.compile(rb'", "name": "[^"\\\n]*(?:\\|"(?!, "pid": \d+, "tid": ))'),
)
_NAME = re.compile(rb'(",\n    "name": ")([^\n]*)(",)(?=\n)|("cat": "\w*", "name": ")([^\n]*)(", "pid": )')
_OPEN = (
    re.compile(rb'"Record function id": \d+, "finished": false'),  # seen in 2.13
    re.compile(rb'"cat": "(?:cpu_op|user_annotation)", "name": [^\n]*\n[^\n]*"dur": 0(?:\.0+)?,'),  # seen in 2.4
)
_CATEGORY = re.compile(rb'"cat": "(\w+)"')
_CLOCK_MARK = re.compile(rb'"name": "gpuprof\.clock"[^{}]*?"ts": ([0-9.]+)')
_BASE_TIME = re.compile(rb'"baseTimeNanoseconds": (\d+)')


@dataclass
class SavedTrace:
    """The packed trace: its events by Kineto category, and the starts of the clock marks in Unix ns, in file order.

    `whole` is false where the file ends in mid-air: no room was left.
    """

    path: Path
    events: dict[str, int] = field(default_factory=dict)
    clock_marks_ns: list[int] = field(default_factory=list)
    whole: bool = True


def save_trace(recording: KinetoRecording, folder: Path | None) -> tuple[SavedTrace, OSError | None]:
    """Write `kineto.json.gz` into `folder`; where that fails, into a temporary folder, with the reason.

    That folder lasts as long as the process. OSError where the trace can be written nowhere.
    """
    temporary = temporary_folder()
    # torch can write it only once, and says nothing where it runs out of room
    raw = recording.saved_at or _roomier(temporary, folder) / "kineto.json"
    try:
        if recording.saved_at is None:
            recording.save(raw)
        if folder is None:
            return pack(raw, temporary / KINETO), None
        try:
            return pack(raw, folder / KINETO), None
        except OSError as error:
            (folder / KINETO).unlink(missing_ok=True)
            return pack(raw, temporary / KINETO), error
    finally:
        raw.unlink(missing_ok=True)
        for left in {temporary, raw.parent} - {folder}:
            if left.is_dir() and not any(left.iterdir()):
                left.rmdir()


def has_open_events(recording: KinetoRecording) -> bool:
    """Whether a range or operator was still open when the recording ended; true where that cannot be found out.

    torch writes to freed memory when such a one closes while a later recording runs: none may start before. Only the
    saved JSON tells (1.6 µs an event): it is written here, and packed from there later.
    """
    if recording.results is None:
        return False
    try:
        if recording.saved_at is None:
            recording.save(temporary_folder() / "kineto.json")
        assert recording.saved_at is not None
        return any(mark.search(piece) for piece in _whole_events(recording.saved_at) for mark in _OPEN)
    except OSError:
        return True


def discard(recording: KinetoRecording) -> None:
    """Delete what `has_open_events` wrote."""
    if recording.saved_at is not None:
        recording.saved_at.unlink(missing_ok=True)
        recording.saved_at = None


def _roomier(temporary: Path, folder: Path | None) -> Path:
    if folder is None or shutil.disk_usage(temporary).free >= shutil.disk_usage(folder).free:
        return temporary
    return folder


def pack(raw: Path, packed: Path) -> SavedTrace:
    """Copy the JSON at `raw` to `packed`, gzipped, names mended. OSError where it cannot be written."""
    saved = SavedTrace(packed)
    marks: list[int] = []
    base_ns = 0
    counted: Counter[bytes] = Counter()
    last = b""
    with gzip.open(packed, "wb", compresslevel=_PACK_LEVEL) as out:
        for chunk in _whole_events(raw):
            # at the beginning (2.13) or at the end (older)
            if not base_ns and (base := _BASE_TIME.search(chunk)):
                base_ns = int(base[1])
            counted.update(_CATEGORY.findall(chunk))
            if b'"gpuprof.clock"' in chunk:
                marks.extend(_nanoseconds(mark) for mark in _CLOCK_MARK.findall(chunk))
            out.write(_NAME.sub(_mend, chunk) if any(odd.search(chunk) for odd in _ANY_ODD) else chunk)
            last = chunk.rstrip()[-1:] or last
    saved.events = {category.decode(): number for category, number in counted.items()}
    saved.clock_marks_ns = [base_ns + mark for mark in marks]
    saved.whole = last == b"}"
    return saved


def temporary_folder() -> Path:
    """A new folder that is deleted when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="gpuprof-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child that ends first
        shutil.rmtree(folder, ignore_errors=True)


def _whole_events(raw: Path) -> Iterator[bytes]:
    """The file in pieces of about 4 MiB that end between two events, so that no event is torn."""
    rest = b""
    with raw.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            chunk = rest + chunk
            end = chunk.rfind(b"\n  {") + 1 or chunk.rfind(b"\n") + 1
            rest = chunk[end:]
            yield chunk[:end]
    yield rest


def _mend(match: re.Match[bytes]) -> bytes:
    before, name, after = match.groups()[:3] if match[1] else match.groups()[3:]
    try:
        json.loads(b'"' + name + b'"')
    except ValueError:
        name = json.dumps(name.decode(errors="replace"), ensure_ascii=False)[1:-1].encode()
    return bytes(before + name + after)


def _nanoseconds(microseconds: bytes) -> int:
    whole, _, part = microseconds.partition(b".")
    return int(whole) * 1000 + int((part + b"000")[:3])
