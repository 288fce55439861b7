"""Kineto's JSON, saved once, mended where a name broke it, and packed."""

from __future__ import annotations

import atexit
import contextlib
import gzip
import json
import os
import re
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gpuprof.capture.profiler.kineto import KinetoRecording
from gpuprof.model.recording import KINETO

_CHUNK_BYTES = 4 * 1024**2
_PACK_LEVEL = 1
_MARGIN = 64  # bytes: all but a damaged file has something else than white space in the last ones
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

    `whole` is false where the file ends in mid-air: no room was left. With `packing` it is as torch wrote it, and
    still to be packed.
    """

    path: Path
    events: dict[str, int] = field(default_factory=dict)
    clock_marks_ns: list[int] = field(default_factory=list)
    whole: bool = True
    packing: Packing | None = None


Saver = Callable[[KinetoRecording, Path | None], tuple[SavedTrace, OSError | None]]


class Packing:
    """A saved trace on its way into the folder of its run: read as it is, it need not be packed first. `packed`: where
    it goes.

    Either `begin` and later `finish`, or `finish` alone, or `abandon`. Between `begin` and `finish` there are both
    files.
    """

    def __init__(self, raw: Path, folder: Path):
        self._raw = raw
        self.packed = folder / KINETO
        self._thread: threading.Thread | None = None
        self._problem: OSError | None = None
        self._left = True

    @property
    def readable(self) -> Path:
        """The file that has the trace now."""
        return self._raw if self._left else self.packed

    def begin(self, *, mend: bool = False) -> None:
        """Pack it in a thread: zlib lets go of the interpreter lock. `mend` its names, which holds that lock for a
        while, where nobody has read it yet. Nothing where it is packed already."""
        if not self._left:
            return
        thread = threading.Thread(target=self._pack if mend else self._compress, name="gpuprof-pack", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads: `finish` does it
            return
        self._thread = thread

    def wait(self) -> OSError | None:
        """Pack it, names mended, or wait for that; what torch wrote stays. Why the folder is left without it."""
        if self._thread is not None:
            self._thread.join()
        elif self._left:
            self._pack()
        return self._problem

    def finish(self) -> OSError | None:
        """The same, and delete what torch wrote. Does nothing a second time."""
        self.wait()
        self.abandon()
        if self._problem is not None:
            self.packed.unlink(missing_ok=True)
        return self._problem

    def abandon(self) -> None:
        """Delete what torch wrote."""
        self._left = False
        self._raw.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # the folder of the run, with more in it
            self._raw.parent.rmdir()

    def _pack(self) -> None:
        try:
            pack(self._raw, self.packed)
        except OSError as error:
            self._problem = error

    def _compress(self) -> None:
        try:
            with self._raw.open("rb") as raw, gzip.open(self.packed, "wb", compresslevel=_PACK_LEVEL) as out:
                while chunk := raw.read(_CHUNK_BYTES):
                    out.write(chunk)
        except OSError as error:
            self._problem = error


def save_unpacked(recording: KinetoRecording, folder: Path | None) -> tuple[SavedTrace, OSError | None]:
    """The same as `save_trace`, but that packing it is left for later."""
    if folder is None:
        return save_trace(recording, None)
    raw = recording.saved_at
    if raw is None:
        temporary = temporary_folder()
        raw = _roomier(temporary, folder) / "kineto.json"
        try:
            recording.save(raw)
        except OSError:
            raw.unlink(missing_ok=True)
            raise
        finally:
            if not any(temporary.iterdir()):
                temporary.rmdir()
    facts = _TraceFacts(count=recording.with_device)
    for chunk in _whole_events(raw):
        facts.add(chunk)
    return facts.of(raw, Packing(raw, folder)), None


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
    facts = _TraceFacts()
    with gzip.open(packed, "wb", compresslevel=_PACK_LEVEL) as out:
        for chunk in _whole_events(raw):
            facts.add(chunk)
            out.write(_NAME.sub(_mend, chunk) if any(odd.search(chunk) for odd in _ANY_ODD) else chunk)
    return facts.of(packed)


class _TraceFacts:
    """What a trace says that the rest of the run's facts depend on. Without `count` any event counts as an operator."""

    def __init__(self, *, count: bool = True):
        self._count = count
        self._counted: Counter[bytes] = Counter()
        self._marks: list[int] = []
        self._base_ns = 0
        self._last = b""

    def add(self, chunk: bytes) -> None:
        # at the beginning (2.13) or at the end (older)
        if not self._base_ns and (base := _BASE_TIME.search(chunk)):
            self._base_ns = int(base[1])
        if self._count:
            self._counted.update(_CATEGORY.findall(chunk))
        elif not self._counted and _CATEGORY.search(chunk):
            self._counted[b"cpu_op"] = 1
        if b'"gpuprof.clock"' in chunk:
            self._marks.extend(_nanoseconds(mark) for mark in _CLOCK_MARK.findall(chunk))
        self._last = (chunk[-_MARGIN:].rstrip() or chunk.rstrip())[-1:] or self._last

    def of(self, path: Path, packing: Packing | None = None) -> SavedTrace:
        return SavedTrace(
            path,
            events={category.decode(): number for category, number in self._counted.items()},
            clock_marks_ns=[self._base_ns + mark for mark in self._marks],
            whole=self._last == b"}",
            packing=packing,
        )


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
