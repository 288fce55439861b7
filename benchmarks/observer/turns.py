"""Iterations with gpuprof's hooks and samplers but without its kernel recording, and plain ones, in turns in one loop.

What two processes take for the same work differs by more than the hooks do. Here the same process goes on, and a
capture begins and ends between two of its iterations.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import Any

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.session import Session
from gpuprof.model.context import Cell

# of the clock: short enough that the machine stays as it is
_BLOCK_S = 2.5
# after a capture has begun or ended, and after its kernel recording has: iterations and seconds of the clock. What a
# capture does once (it reads the cell's text, looks at each variable for the first time) is part of the whole cell's
# figure; here every block would pay it anew
_SETTLE, _SETTLE_S = 3, 1.0
# iterations differ in turn (a GAN trains its generator in every fifth)
_TOGETHER = 5
_RECORDING = "recording"


class Turns:
    """Called at the end of every iteration."""

    def __init__(self, folder: Path, source: str):
        self._folder, self._source = folder, source
        self._session: Session | None = None
        self._blocks: list[dict[str, Any]] = []
        self._settling, self._changed_at = _SETTLE, time.perf_counter()
        self._block: dict[str, Any] | None = None
        self._last = (0.0, 0.0)
        self._began = 0.0
        self._looking = False

    def step_ends(self, ends_iteration: bool) -> None:
        """Begin a block, go on with it, or end it and change the side."""
        if not ends_iteration:
            return
        if self._block is None:
            self._settle()
            return
        now = (time.perf_counter(), time.process_time())
        looking, self._looking = self._looking, self._is_looked_at()
        wall_s: list[float] = self._block["wall_s"]
        if not (looking or self._looking):  # the close look's iterations are not among the unrecorded ones
            wall_s.append(now[0] - self._last[0])
            self._block["cpu_s"].append(now[1] - self._last[1])
        self._last = now
        if now[0] - self._began >= _BLOCK_S and len(wall_s) % _TOGETHER == 0:
            self._blocks.append(self._block)
            self._block = None
            self._change()

    def finish(self) -> list[dict[str, Any]]:
        """The blocks; one that has not ended is left out."""
        if self._session is not None:
            self._session.stop()
        return self._blocks

    def _settle(self) -> None:
        if self._session is not None and self._session.live().state == _RECORDING:
            self._changed_at = time.perf_counter()
            return
        self._settling -= 1
        if self._settling <= 0 and time.perf_counter() - self._changed_at >= _SETTLE_S:
            gc.collect()  # so that each block begins with the same: objects of one would be collected in the next
            self._looking = self._is_looked_at()
            self._block = {"watched": self._session is not None, "wall_s": [], "cpu_s": []}
            self._last = (time.perf_counter(), time.process_time())
            self._began = self._last[0]

    def _is_looked_at(self) -> bool:
        watch = None if self._session is None else self._session._watch
        return watch is not None and watch._look.installed

    def _change(self) -> None:
        self._settling, self._changed_at = _SETTLE, time.perf_counter()
        if self._session is not None:
            self._session.stop()
            self._session = None
            return
        cell = Cell(source=self._source, filename="")
        self._session = Session(CaptureOptions(steps=1, skip=0, folder=self._folder), cell=cell)
        self._session.start()
