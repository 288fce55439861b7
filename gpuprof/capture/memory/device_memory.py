"""Reads how much the CUDA caching allocator holds over the whole cell, in evaluation as in training."""

from __future__ import annotations

import threading
import time
from typing import Any

from gpuprof.capture.base.signal import Signal, WatchedCell
from gpuprof.capture.memory.allocated import AllocatedBytes, cuda_is_built
from gpuprof.model.memory import DeviceMemory
from gpuprof.units import NS_PER_MS

# one reading takes some ten microseconds
_LEAST_APART_NS = 20 * NS_PER_MS
# from the watching thread, where no step and no batch has been read for so long
_LEAST_QUIET_NS = 150 * NS_PER_MS
_MOST_READINGS = 4096


class DeviceMemoryWatch(Signal):
    """Reads the current device at steps and batches, and all that are used where none come; keeps at most 4,096
    readings of each, evenly."""

    field = "device_memory"
    ends_first = True

    def __init__(self, cell: WatchedCell | None = None):
        super().__init__(cell)
        self._rows: dict[int, list[tuple[int, int]]] = {}
        self._allocated = AllocatedBytes()
        self._lock = threading.Lock()
        self._apart_ns = _LEAST_APART_NS
        self._last_ns = 0
        self._ended = False

    def begin(self) -> None:
        """The first reading."""
        self.follows_iterations = cuda_is_built()
        self._read()

    def after_step(self, optimizer: Any, times: int) -> None:
        """What has stayed of a step."""
        self._read_if_due()

    def before_batch(self) -> None:
        """What has stayed of the work on the batch before, with or without a step."""
        self._read_if_due()

    def tick(self, resident_bytes: int) -> None:
        """A function that works for long, without a step or a batch."""
        if self._ended or time.perf_counter_ns() - self._last_ns < max(self._apart_ns, _LEAST_QUIET_NS):
            return
        self._last_ns = time.perf_counter_ns()
        for device, allocated in self._allocated.by_device().items():
            self._note(device, allocated)

    def end(self) -> None:
        """The last reading."""
        self._ended = True
        self._read()

    def facts(self) -> tuple[DeviceMemory, ...]:
        """One entry a device that was read."""
        return tuple(
            DeviceMemory(
                device=device,
                time_ns=tuple(row[0] for row in rows),
                allocated_bytes=tuple(row[1] for row in rows),
            )
            for device, rows in sorted(self._rows.items())
        )

    def _read_if_due(self) -> None:
        if time.perf_counter_ns() - self._last_ns >= self._apart_ns:
            self._read()

    def _read(self) -> None:
        import torch

        self._last_ns = time.perf_counter_ns()
        cuda: Any = torch.cuda
        if not cuda.is_initialized():
            return
        try:
            device = int(cuda.current_device())
            stats = cuda.memory_stats_as_nested_dict(device)
        except (
            RuntimeError,
            AttributeError,
        ):  # after an error of the device; torch without CUDA
            return
        self._note(device, int(stats["allocated_bytes"]["all"]["current"]))

    def _note(self, device: int, allocated: int) -> None:
        with self._lock:
            rows = self._rows.setdefault(device, [])
            rows.append((time.time_ns(), allocated))
            if len(rows) >= _MOST_READINGS:
                self._apart_ns *= 2
                del rows[1::2]
