"""Keeps what C++ writes to the process's standard error (fd 2) out of the cell, and keeps it to be read."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_KINETO_LINE = re.compile(r"^(?:USDT|STAGE|VERBOSE|INFO|WARNING|ERROR):\d{4}-\d\d-\d\d \S+ \d+:\d+ \S+\] ?(.*)$")
_GLOG_LINE = re.compile(r"^\[?[IWEF]\d{4} .*(?:CUPTI|[Kk]ineto|profiler).*\] (.*)$")
_BARE_LINE = re.compile(r"CUPTI_|CUPTI initialization|CUPTI version", re.ASCII)
_LEVEL, _SILENT = "KINETO_LOG_LEVEL", "99"
_NOISE = re.compile(r"^profiler_(?:start|stop)\b")


@dataclass
class Heard:
    """The profiler's own messages, in order, without level, time and place."""

    messages: list[str] = field(default_factory=list)


@contextmanager
def stderr_captured(heard: Heard) -> Iterator[None]:
    """Collect fd 2 inside the block: the profiler's lines go to `heard`, every other line is written on afterwards.

    Where fd 2 cannot be redirected (closed, no temporary file) Kineto is told to be silent instead.
    """
    saved = None
    sink = None
    try:
        sink = tempfile.TemporaryFile()  # noqa: SIM115  - closed below, in the order that fd 2 needs
        saved = os.dup(2)
        os.dup2(sink.fileno(), 2)
    except OSError:
        _close(sink, saved)
        with _kineto_silenced():
            yield
        return
    try:
        yield
    finally:
        os.dup2(saved, 2)
        sink.seek(0)
        text = sink.read().decode(errors="replace")
        others = sort_lines(text, heard)
        if others:
            with suppress(OSError):
                os.write(2, others.encode())
        _close(sink, saved)


def sort_lines(text: str, heard: Heard) -> str:
    """Append the profiler's lines of `text` to `heard` and return the others, unchanged."""
    others = []
    for line in text.splitlines(keepends=True):
        match = _KINETO_LINE.match(line.rstrip("\n")) or _GLOG_LINE.match(line.rstrip("\n"))
        if match:
            if not _NOISE.match(match.group(1)):
                heard.messages.append(match.group(1).strip())
        elif _BARE_LINE.search(line):
            heard.messages.append(line.strip())
        else:
            others.append(line)
    return "".join(others)


@contextmanager
def _kineto_silenced() -> Iterator[None]:
    # 99 is above every level; heard by Kineto only before its first use in the process
    mine = os.environ.setdefault(_LEVEL, _SILENT)
    try:
        yield
    finally:
        if mine == _SILENT:
            os.environ.pop(_LEVEL, None)


def _close(sink: object, saved: int | None) -> None:
    if saved is not None:
        os.close(saved)
    if sink is not None:
        sink.close()  # type: ignore[attr-defined]
