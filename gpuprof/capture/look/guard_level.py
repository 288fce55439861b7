"""Where a mode may be put on torch's stack and taken off again, beside `torch.inference_mode`.

Such a guard puts back at its end what torch's dispatcher was told before, whether modes are on the stack or not. A mode
that came within it is asleep from there on. And where one is taken off within a guard that began after it, each later
operator would fail: torch looks for a mode where none is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_OURS = str(Path(__file__).resolve().parents[2])


class GuardLevel:
    """The place at which a mode was put on the stack: inside of a guard or not, and the functions that ran."""

    def __init__(self) -> None:
        self._guarded = guarded()
        # not the frames themselves, which would keep the user's variables alive
        self._frames: set[tuple[int, CodeType]] = set()
        frame = outside_frame()
        while frame is not None:
            self._frames.add((id(frame), frame.f_code))
            frame = frame.f_back

    def is_here(self) -> bool:
        """Whether all guards that began since have ended for sure."""
        if not guarded():
            return True
        frame = outside_frame()
        return self._guarded and frame is not None and self.had(frame)

    def had(self, frame: FrameType) -> bool:
        """Whether that function ran at that place, too: its callees have ended since, with their guards."""
        return (id(frame), frame.f_code) in self._frames


def guarded() -> bool:
    """Whether an inference mode is on."""
    import torch

    return torch.is_inference_mode_enabled()


def sees_modes() -> bool:
    """Whether operators of this thread go to the modes on the stack; False also where none is."""
    import torch

    known: Any = torch._C
    return bool(known._dispatch_tls_is_dispatch_key_included(known.DispatchKey.Python))


def outside_frame() -> FrameType | None:
    """The innermost running function that is not ours."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return frame
