"""Before Python 3.12: the lines of the tensor methods that wait for the device, and of `backward`, while they run.

Each method of `torch.Tensor` is replaced by one that notes the user's frames on the stack and calls the original.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from gpuprof.capture.base import exclusive_session
from gpuprof.capture.base.notebook_files import user_frames
from gpuprof.capture.base.tracebacks import leave_out
from gpuprof.capture.lines.line_log import ENTERED, LEFT, MOST_ENTRIES, LineLog

METHODS = (
    "item", "tolist", "cpu", "cuda", "numpy", "nonzero", "to", "backward", "__bool__", "__float__", "__int__",
    "__index__",
)  # fmt: skip
_CALL_NS = 4_000  # 2 to 4 µs measured, most of it for the stack
_FREE_NS = 25_000_000
_MOST_SHARE = 0.02


class LineCalls:
    """From `install` to `remove`; entries are made from `begin` to `pause`.

    It ends by itself, with a note, where it would take more than 2 % of the time (after the first 25 ms) or its log is
    full; `ended_ns` is then when, else 0.
    """

    how = "calls"

    def __init__(self, log: LineLog):
        self.log = log
        self.notes: list[str] = []
        self.ended_ns = 0
        self._on = False
        self._began_ns = 0
        self._calls = 0
        self._places: dict[str, int] = {}
        self._busy = threading.local()
        self._installed: dict[str, tuple[Any, Any]] = {}

    def install(self) -> None:
        """Replace the methods; torch is imported here."""
        tensor = _tensor()
        for name in METHODS:
            own = tensor.__dict__.get(name)
            wrapper = self._wrapped(getattr(tensor, name))
            setattr(tensor, name, wrapper)
            self._installed[name] = (own, wrapper)

    def begin(self) -> None:
        """Note calls from here on, and forget those before."""
        self.log.clear()
        self._began_ns, self.ended_ns, self._calls, self._on = time.time_ns(), 0, 0, True

    def pause(self) -> None:
        """Note no more."""
        self._on = False

    def remove(self) -> None:
        """Put torch's own methods back; what somebody else wrapped around ours meanwhile stays."""
        self.pause()
        tensor = _tensor()
        for name, (own, wrapper) in self._installed.items():
            if tensor.__dict__.get(name) is not wrapper:
                continue
            if own is None:
                delattr(tensor, name)
            else:
                setattr(tensor, name, own)
        self._installed.clear()

    @property
    def cost_ns(self) -> int:
        """About what it has taken."""
        return self._calls * _CALL_NS

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def noted(*args: Any, **kwargs: Any) -> Any:
            places = self._enter() if self._on else []
            try:
                return method(*args, **kwargs)
            except BaseException as error:
                leave_out(error)
                raise
            finally:
                self._leave(places)

        return noted

    def _enter(self) -> list[int]:
        """Note the user's frames, outermost first; nothing within another noted call, or where none is on the stack."""
        if getattr(self._busy, "inside", False) or exclusive_session.forked():
            return []
        try:
            frames = user_frames(self.log.files[0])
            places = [self._place(frame.f_code.co_filename) for frame in frames]
            log = self.log.of_thread()
            for place, frame in zip(places, frames, strict=True):
                log.add(place + ENTERED)
                log.add(place + frame.f_lineno)
            self._busy.inside = bool(places)
            self._calls += 1
            self._look_at_cost()
        except Exception as error:  # noqa: BLE001  - inside the user's call: whatever fails here is ours, and must not end it
            self._on = False
            self.notes.append(f"the lines could not be followed ({type(error).__name__}: {error})")
            return []
        return places

    def _leave(self, places: list[int]) -> None:
        if not places:
            return
        self._busy.inside = False
        log = self.log.of_thread()
        for place in reversed(places):
            log.add(place + LEFT)

    def _place(self, filename: str) -> int:
        place = self._places.get(filename)
        if place is None:
            place = self._places[filename] = self.log.new_place(filename)
        return place

    def _look_at_cost(self) -> None:
        now = time.time_ns()
        full = self.log.entries >= MOST_ENTRIES
        if full or self.cost_ns > _FREE_NS + _MOST_SHARE * (now - self._began_ns):
            self._on, self.ended_ns = False, now
            self.notes.append(
                f"the lines of tensor methods were followed for the first {(now - self._began_ns) / 1e9:.1f} s of the "
                "recording only: so many came"
            )


def _tensor() -> Any:
    import torch

    return torch.Tensor
