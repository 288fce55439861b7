"""Notices another torch profiler that starts in the cell, before it starts: two at once cost the first its events.

torch.profiler, a Trainer's or Lightning's profiler and torch.autograd.profiler all prepare their trace in one place,
and NVTX and ITT ranges begin in two more.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_MOST_FRAMES = 100
OURS = "_gpuprof_recording"  # an attribute of the profile object of our own recording


class OtherProfilers:
    """From `install` to `remove`, `about_to_start` is called with who starts one, on the thread that does."""

    def __init__(self, about_to_start: Callable[[str], None]):
        self._about_to_start = about_to_start
        self._wrapped: list[tuple[type, str, Any, Any]] = []

    def install(self) -> None:
        """Wrap the places where torch starts a profiler; one that this torch lacks is left out."""
        from torch.autograd import profiler

        places = (("profile", "_prepare_trace"), ("emit_nvtx", "__enter__"), ("emit_itt", "__enter__"))
        for kind, name in places:
            owner = getattr(profiler, kind, None)
            original = getattr(owner, name, None)
            if owner is None or original is None:
                continue
            replacement = self._telling(original)
            setattr(owner, name, replacement)
            self._wrapped.append((owner, name, original, replacement))

    def remove(self) -> None:
        """Put torch's own back, unless somebody has wrapped ours meanwhile."""
        while self._wrapped:
            owner, name, original, replacement = self._wrapped.pop()
            if vars(owner).get(name) is replacement:
                setattr(owner, name, original)

    def _telling(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def started(profiler: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(profiler, "enabled", True) and not getattr(profiler, OURS, False):
                self._about_to_start(_maker(sys._getframe(1)))
            return original(profiler, *args, **kwargs)

        return started


def _maker(frame: FrameType | None) -> str:
    """The module of the innermost frame outside torch: `lightning.pytorch.profilers.pytorch`, or `the cell`."""
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        module = str(frame.f_globals.get("__name__", ""))
        if module and module.partition(".")[0] not in ("torch", "contextlib"):
            return "the cell" if module == "__main__" else f"`{module}`"
        frame = frame.f_back
    return "the cell"
