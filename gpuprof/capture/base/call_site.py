"""Which line of the user's code a call comes from, read off the Python stack."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

_MOST_FRAMES = 200
_OWN_FOLDER = str(Path(__file__).resolve().parents[1])


def calling_line(filename: str | None) -> int | None:
    """The line (from 1) of the innermost frame of `filename` on the stack of the calling thread.

    Where `filename` is None (no cell is known): of the innermost frame outside torch and outside gpuprof's capture.
    None where there is no such frame.
    """
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return None
        if _is_users(frame, filename):
            return frame.f_lineno
        frame = frame.f_back
    return None


def _is_users(frame: FrameType, filename: str | None) -> bool:
    if filename is not None:
        return frame.f_code.co_filename == filename
    module = str(frame.f_globals.get("__name__", ""))
    inside = module == "torch" or module.startswith("torch.")
    return not inside and not frame.f_code.co_filename.startswith(_OWN_FOLDER)
