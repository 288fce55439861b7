"""What is found has to be what this interpreter says of itself."""

from __future__ import annotations

import os
import struct
import sys
from typing import Any

import pytest

from gpuprof.capture.stacks.frame_layout import frame_layout, thread_state
from gpuprof.errors import CaptureError


def test_the_thread_points_to_the_frame_that_runs() -> None:
    layout = frame_layout()
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        place = thread_state() + 8 * layout.thread_word
        (at,) = struct.unpack("Q", os.pread(memory, 8, place))
        if layout.via_word >= 0:
            (at,) = struct.unpack("Q", os.pread(memory, 8, at + 8 * layout.via_word))
        words = struct.unpack("16Q", os.pread(memory, 128, at))
    finally:
        os.close(memory)
    assert words[layout.code_word] & ~7 == id(sys._getframe().f_code)


def test_it_is_looked_for_once() -> None:
    assert frame_layout() is frame_layout()


def test_memory_that_is_closed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", closed)
    with pytest.raises(CaptureError, match=r"cannot be read .Permission denied"):
        frame_layout.__wrapped__()


def test_an_interpreter_without_its_frames_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pread", lambda memory, size, at: bytes(size))
    with pytest.raises(CaptureError, match="not found"):
        frame_layout.__wrapped__()


def test_another_implementation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.implementation, "name", "other")
    with pytest.raises(CaptureError, match="not known"):
        frame_layout.__wrapped__()


def test_its_numbers_are_those_the_reader_takes() -> None:
    told = frame_layout().arguments(4096)
    assert told[0] == "4096" and len(told) == 20
    assert all(str(int(each)) == each for each in told)
