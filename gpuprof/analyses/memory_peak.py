"""How much memory the run had allocated at most, when, and how it moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.result import Result, Results
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """One device's memory, or the host's (`device` None). Bytes; None is *unknown*.

    `time_ns`, `allocated_bytes`, `reserved_bytes` (−1 where unknown): the curve, one row an allocator event, shape
    `(rows,)`; empty where only the allocator's statistics are known. `relative`: the curve counts from the start of
    the recording, so its zero is what was live before (host rows without totals).
    `peak_allocated_bytes` at `peak_at_ns` and `peak_reserved_bytes` may be at different instants. `source` says where
    the peak comes from. `limit_bytes` is the device's memory. `start_allocated_bytes` was live at the first row.
    `transient_bytes` = peak − the smallest allocation over the steps after the first: what comes and goes within a
    step (activations, gradients that are released, workspaces). `growth_per_step_bytes`: median difference of the
    smallest allocation from one step to the next. `retries` and `ooms` are the allocator's counts in the run.
    """

    device: int | None
    name: str | None
    time_ns: Array
    allocated_bytes: Array
    reserved_bytes: Array
    relative: bool
    source: str
    peak_allocated_bytes: int | None
    peak_at_ns: int | None
    peak_reserved_bytes: int | None
    limit_bytes: int | None
    start_allocated_bytes: int | None
    transient_bytes: int | None
    growth_per_step_bytes: float | None
    retries: int | None
    ooms: int | None


@dataclass(frozen=True)
class MemoryPeak(Result):
    """Every device with memory figures, and the host; empty / None where nothing was recorded."""

    devices: tuple[MemoryUse, ...]
    host: MemoryUse | None

    @property
    def primary(self) -> MemoryUse | None:
        """The device with the highest peak."""
        return max(self.devices, key=lambda use: use.peak_allocated_bytes or 0, default=None)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From `[memory]` rows, else from the allocator's statistics."""
        raise NotImplementedError
