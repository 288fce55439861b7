"""Samples the stack of the cell's thread from a process of its own that reads this process's memory.

As py-spy does, it runs nothing here: code that holds the GIL, torch's operators and waits are all seen where they are.
It reads the frames of one thread only, which takes a tenth of the time: so it can look ten times as often.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from types import CodeType
from typing import IO

import msgspec

from gpuprof.capture.base.own_processes import OWN
from gpuprof.capture.stacks import frame_reader
from gpuprof.capture.stacks.folding import Frame, StackTree, is_ours
from gpuprof.capture.stacks.frame_layout import frame_layout, thread_state
from gpuprof.capture.stacks.tracing_right import let_read
from gpuprof.errors import CaptureError

_PATIENCE_S = 5.0


class _Code(msgspec.Struct, array_like=True):
    """Texts and line table in hexadecimal."""

    filename: str
    name: str
    lines: str
    first_line: int


class _Seen(msgspec.Struct, array_like=True):
    """`stacks`: code and offset of each frame, innermost first. `times`: begin of each stretch in Unix ns."""

    codes: list[_Code]
    stacks: list[list[int]]
    times: list[int]
    stretches: list[int]
    end_ns: int
    count: int
    torn: int
    cpu_ns: int


class MemorySampler:
    """Samples the thread that made it, from `start` to `finish`. CaptureError where memory cannot be read here."""

    how = "memory"
    refused = False
    """Whether it was found in this process that its memory cannot be read: it is not tried again."""

    def __init__(self) -> None:
        self._thread = thread_state()
        self._process: subprocess.Popen[bytes] | None = None
        self._output: IO[bytes] | None = None  # without a name: nothing is left where this process is killed
        self._asked = False
        self.rate_hz = 0.0
        self.cpu_ns = 0

    def start(self) -> None:
        """Begin; returns at once, the first stack is seen some 20 ms later."""
        if not sys.executable:
            raise CaptureError("there is no interpreter to read the stacks with")
        if MemorySampler.refused:
            raise CaptureError("the memory of this process could not be read")
        command = [sys.executable, "-I", "-S", frame_reader.__file__, str(os.getpid())]
        command += frame_layout().arguments(self._thread)
        try:
            self._output = tempfile.TemporaryFile(prefix="gpuprof-stacks-")  # noqa: SIM115  - closed in abandon
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a Ctrl-C of the cell is not for it
            )
        except OSError as error:
            self.abandon()
            raise CaptureError(f"no process could be started to read the stacks ({error.strerror or error})") from error
        OWN.add(self._process.pid)
        let_read(self._process.pid)

    def tick(self) -> None:
        """From any thread, now and then. CaptureError where it could not read, and has ended."""
        if self._process is not None and not self._asked and self._process.poll() is not None:
            MemorySampler.refused = True
            raise CaptureError("the memory of this process could not be read")

    def ask_to_end(self) -> None:
        """Have it write what it has seen; `finish` waits for it."""
        process, self._asked = self._process, True
        if process is not None and process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(OSError):
                process.stdin.write(b"e")  # a worker that was forked may hold the pipe open
            with contextlib.suppress(OSError):
                process.stdin.close()

    def finish(self, tree: StackTree) -> list[tuple[int, int, int]]:
        """End: (begin, end, node) of each stretch, Unix ns, in order. CaptureError where nothing was seen."""
        process, output = self._process, self._output
        if process is None or output is None:
            raise CaptureError("no stack was sampled")
        self.ask_to_end()
        try:
            process.wait(_PATIENCE_S)
            output.seek(0)
            seen = msgspec.json.decode(output.read(), type=_Seen)
        except subprocess.TimeoutExpired as error:
            raise CaptureError("the process that reads the stacks did not end") from error
        except (OSError, msgspec.DecodeError) as error:
            MemorySampler.refused = True
            raise CaptureError("the memory of this process could not be read") from error
        finally:
            self.abandon()
        if not seen.times:
            raise CaptureError("no stack could be read")
        self.cpu_ns = seen.cpu_ns
        self.rate_hz = seen.count * 1e9 / max(seen.end_ns - seen.times[0], 1)
        return list(_rows(seen, tree))

    def abandon(self) -> None:
        """End, and keep nothing; never raises."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()
                process.wait()
            OWN.discard(process.pid)
        if self._output is not None:
            with contextlib.suppress(OSError):
                self._output.close()


def _rows(seen: _Seen, tree: StackTree) -> Iterator[tuple[int, int, int]]:
    lines = [_CodeLines(each) for each in seen.codes]
    nodes = []
    for places in seen.stacks:
        pairs = zip(places[::2], places[1::2], strict=True)
        stack = [lines[code].frame(offset) for code, offset in pairs if lines[code].is_code][::-1]
        nodes.append(None if is_ours(stack) else tree.node(stack))
    ends = [*seen.times[1:], seen.end_ns]
    for begin, end, number in zip(seen.times, ends, seen.stretches, strict=True):
        node = nodes[number]
        if node is not None:
            yield begin, end, node


class _CodeLines:
    """The line at each instruction of a code that was read."""

    def __init__(self, code: _Code):
        self._file, self._name = (bytes.fromhex(each).decode("utf-8", "replace") for each in (code.filename, code.name))
        # ways into the interpreter, between C and Python
        self.is_code = not self._file.startswith(("<shim>", "<interpreter"))
        self._first = code.first_line
        self._table = bytes.fromhex(code.lines)
        self._known: list[tuple[int, int, int | None]] | None = None

    def frame(self, offset: int) -> Frame:
        if self._known is None:
            stand_in = _EMPTY.replace(co_linetable=self._table, co_firstlineno=self._first)
            self._known = list(stand_in.co_lines())
        for start, end, line in self._known:
            if start <= offset < end:
                return self._file, self._name, line or self._first
        return self._file, self._name, self._first


_EMPTY: CodeType = compile("", "", "exec")
