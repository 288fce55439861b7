"""Samples the stack of the cell's thread from a process of its own, with py-spy.

It reads this process's memory and runs nothing in it: code that holds the GIL, torch's operators and waits are all seen
where they are. A thread of ours is let in only when the GIL is given up, a signal handler only after a call; both then
charge the time to another line.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from gpuprof.capture.base.own_processes import OWN
from gpuprof.capture.stacks.folding import StackTree, is_ours
from gpuprof.capture.stacks.spy_trace import first_us, read_stacks
from gpuprof.capture.stacks.tracing_right import let_read
from gpuprof.errors import CaptureError
from gpuprof.units import NS_PER_S, NS_PER_US

# of one core; what a sample costs: about 200 µs, and 7 µs for each frame of any thread (measured, py-spy 0.4.3)
_SHARE = 0.005
_SAMPLE_S, _FRAME_S = 200e-6, 7e-6
_LEAST_HZ, _MOST_HZ = 5, 100
# it keeps every change of the stack in memory until it ends
_PART_NS = 300 * NS_PER_S
_PATIENCE_S = 5.0


@dataclass(eq=False)
class _Part:
    """One run of py-spy, and its files."""

    process: subprocess.Popen[bytes]
    folder: Path
    started_ns: int = field(default_factory=time.time_ns)

    begin_ns: int | None = None
    asked: bool = False

    def ask_to_end(self) -> None:
        """Once; its last stack lasts to now."""
        if self.asked or self.process.returncode is not None:
            return
        self.asked = True
        self.note_begin()
        with contextlib.suppress(OSError):
            self.process.send_signal(signal.SIGINT)

    def note_begin(self) -> None:
        """When it said that it samples, the time of its first stack (Unix time, to some ms); it says more later."""
        with contextlib.suppress(OSError):
            status = (self.folder / "said").stat()
            self.begin_ns = status.st_mtime_ns if status.st_size else None


class SpySampler:
    """From `start` to `finish`; `tick` from time to time between. CaptureError where py-spy cannot be had here."""

    how = "py-spy"

    def __init__(self) -> None:
        self._main = threading.get_ident()
        self._parts: list[_Part] = []
        self._ending = False
        self.rate_hz = 0
        self.cpu_ns = 0

    def start(self) -> None:
        """Begin; returns at once, the first stacks are seen some 20 to 100 ms later."""
        self._binary = _binary()
        self.rate_hz = _affordable_hz()
        self._begin_part()

    def tick(self) -> None:
        """From any thread, now and then: a new part begins where the current one has become long."""
        if self._parts and not self._ending and time.time_ns() - self._parts[-1].started_ns > _PART_NS:
            self._begin_part()
            self._end_part(self._parts[-2])

    def ask_to_end(self) -> None:
        """Have it write what it has seen, which takes 0.2 s; `finish` waits for it."""
        self._ending = True
        for part in self._parts:
            part.ask_to_end()

    def finish(self, tree: StackTree) -> list[tuple[int, int, int]]:
        """End: (begin, end, node) of each stretch, Unix ns, in order. CaptureError where py-spy saw nothing."""
        parts, self._parts = self._parts, []
        rows: list[tuple[int, int, int]] = []
        problem = ""
        try:
            for part in parts:
                self._end_part(part)
            for part in parts:
                problem = self._read(part, tree, rows) or problem
        finally:
            for part in parts:
                shutil.rmtree(part.folder, ignore_errors=True)
        if not rows:
            raise CaptureError(problem or "py-spy saw no stack")
        return sorted(rows)

    def abandon(self) -> None:
        """End, and keep nothing; never raises."""
        parts, self._parts = self._parts, []
        for part in parts:
            with contextlib.suppress(OSError):
                part.process.kill()
                part.process.wait()
            OWN.discard(part.process.pid)
            shutil.rmtree(part.folder, ignore_errors=True)

    def _begin_part(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="gpuprof-stacks-"))
        command = [
            *(
                self._binary,
                "record",
                "--pid",
                str(os.getpid()),
                "--rate",
                str(self.rate_hz),
                "--format",
                "chrometrace",
            ),
            *("--output", str(folder / "stacks.json"), "--nonblocking", "--full-filenames", "--idle"),
        ]
        try:
            with (folder / "said").open("wb") as said, (folder / "errors").open("wb") as errors:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=errors,
                    start_new_session=True,  # a Ctrl-C of the cell is not for it
                    env={"PATH": "", "RUST_BACKTRACE": "0"},
                )
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise CaptureError(f"py-spy could not be started ({error.strerror or error})") from error
        OWN.add(process.pid)
        let_read(process.pid)
        self._parts.append(_Part(process, folder))

    def _end_part(self, part: _Part) -> None:
        """Ask it to write and end; its processor time is counted."""
        if part.process.returncode is not None:
            return
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        part.ask_to_end()
        try:
            part.process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            part.process.kill()
            part.process.wait()
        OWN.discard(part.process.pid)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.cpu_ns += int(spent_s * NS_PER_S)

    def _read(self, part: _Part, tree: StackTree, rows: list[tuple[int, int, int]]) -> str:
        """Add its stretches to `rows`; why there are none."""
        begin_ns = part.begin_ns
        try:
            raw = (part.folder / "stacks.json").read_bytes()
            first = first_us(raw)
            if begin_ns is None or first is None:
                return _said(part)
            zero_ns = begin_ns - first * NS_PER_US
            for since_us, until_us, stack in read_stacks(raw, self._main):
                if not is_ours(stack):
                    rows.append((zero_ns + since_us * NS_PER_US, zero_ns + until_us * NS_PER_US, tree.node(stack)))
        except (OSError, ValueError):  # msgspec's error is a ValueError
            return _said(part)
        return ""


def _binary() -> str:
    if sys.platform == "win32":
        raise CaptureError("py-spy is not used on Windows")
    try:
        files = importlib.metadata.files("py-spy") or []
    except importlib.metadata.PackageNotFoundError as error:
        raise CaptureError("py-spy is not installed") from error
    for each in files:
        if each.name == "py-spy":
            return str(Path(str(each.locate())).resolve())
    found = shutil.which("py-spy")
    if found is None:
        raise CaptureError("py-spy is not installed")
    return found


def _affordable_hz() -> int:
    """So often that it takes under 1 % of a core: py-spy reads every frame of every thread."""
    frames = 0
    for frame in sys._current_frames().values():
        each = frame
        while each is not None:
            frames, each = frames + 1, each.f_back  # type: ignore[assignment]
    return min(max(int(_SHARE / (_SAMPLE_S + _FRAME_S * frames)), _LEAST_HZ), _MOST_HZ)


def _said(part: _Part) -> str:
    with contextlib.suppress(OSError):
        lines = (part.folder / "errors").read_text(errors="replace").strip().splitlines()
        return f"py-spy could not read this process ({lines[-1].strip()})" if lines else "py-spy saw no stack"
    return "py-spy saw no stack"
