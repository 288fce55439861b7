"""Reads how much the CUDA caching allocator holds after optimizer steps, over the whole cell."""

from __future__ import annotations

import time
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.memory.allocated import cuda_is_built
from gpuprof.model.memory import StepMemory
from gpuprof.units import NS_PER_MS

# one reading takes some ten microseconds
_LEAST_APART_NS = 5 * NS_PER_MS
_MOST_READINGS = 4096


class StepMemoryWatch(Signal):
    """Call `after_step` after every step; it reads at most each 5 ms and keeps at most 4,096 readings, evenly."""

    field = "step_memory"

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._rows: dict[int, list[tuple[int, int, int, int]]] = {}
        self._last_ns = 0
        self._stride = 1

    def begin(self) -> None:
        """A torch without CUDA has nothing to read."""
        self.follows_iterations = cuda_is_built()

    def after_step(self, optimizer: Any, times: int) -> None:
        """Read the current device, where CUDA is initialised (it is never initialised here)."""
        now = time.perf_counter_ns()
        if times % self._stride or now - self._last_ns < _LEAST_APART_NS:
            return
        self._last_ns = now
        import torch

        cuda: Any = torch.cuda
        if not cuda.is_initialized():
            return
        device = int(cuda.current_device())
        stats = cuda.memory_stats_as_nested_dict(device)
        rows = self._rows.setdefault(device, [])
        rows.append((times, time.time_ns(), _current(stats, "allocated_bytes"), _current(stats, "reserved_bytes")))
        if len(rows) >= _MOST_READINGS:
            self._stride *= 2
            del rows[1::2]

    def facts(self) -> tuple[StepMemory, ...]:
        """One entry a device that was read."""
        return tuple(
            StepMemory(
                device=device,
                step=tuple(row[0] for row in rows),
                time_ns=tuple(row[1] for row in rows),
                allocated_bytes=tuple(row[2] for row in rows),
                reserved_bytes=tuple(row[3] for row in rows),
            )
            for device, rows in sorted(self._rows.items())
        )


def _current(stats: dict[str, Any], name: str) -> int:
    return int(stats[name]["all"]["current"])
