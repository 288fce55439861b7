"""Which code is the user's own: that of the profiled cell, and of functions defined in other cells."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from gpuprof.model.context import SourceFile

# <temporary folder>/ipykernel_<pid>/<hash>.py, and what IPython in a terminal calls its inputs
_CELL = re.compile(r"ipykernel_\d+[/\\]\d+\.py$|^<ipython-input-")
_MOST_FRAMES = 200


def is_users(filename: str, cell_filename: str | None) -> bool:
    """Whether code of that file is the profiled cell's or another cell's."""
    return filename == cell_filename or _CELL.search(filename) is not None


def user_frames(cell_filename: str | None) -> list[FrameType]:
    """The frames of the user's own code on the stack of the calling thread, outermost first."""
    frame: FrameType | None = sys._getframe(1)
    found = []
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if is_users(frame.f_code.co_filename, cell_filename):
            found.append(frame)
        frame = frame.f_back
    return found[::-1]


def source_file(filename: str, namespace: Mapping[str, Any] | None) -> SourceFile:
    """Its text, and the number of the input in the notebook's history that it is."""
    source = "".join(linecache.getlines(filename))
    history = namespace.get("In") if namespace is not None else None
    inputs = [text.strip() for text in history if isinstance(text, str)] if isinstance(history, list) else []
    wanted = source.strip()
    numbers = [number for number, text in enumerate(inputs) if text and text == wanted]
    return SourceFile(filename=filename, source=source, execution_count=numbers[-1] if numbers else None)
