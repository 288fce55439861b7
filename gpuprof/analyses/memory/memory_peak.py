"""How much memory the run had allocated at most, when, and how it moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.phases import backward_mask
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.memory import Allocator
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

FROM_ROWS = "the allocator's own rows in the recording"
FROM_SUMS = "allocations and releases in the recording, summed from its beginning"
FROM_STATISTICS = "the allocator's statistics (torch.cuda.memory_stats)"
NEGLIGIBLE_BYTES = 1 << 20
_FILL = 0.9


@dataclass(frozen=True, eq=False)
class MemoryUse:
    """One device's memory, or the host's (`device` None). Bytes; None is *unknown*.

    `time_ns`, `allocated_bytes`, `reserved_bytes` (−1 where unknown): the curve, one row an allocator event, shape
    `(rows,)`; empty where only the allocator's statistics are known. `relative`: the curve counts from the start of
    the recording, so what was live before is not in it (rows without totals; the host's always).
    `peak_allocated_bytes` at `peak_at_ns` and `peak_reserved_bytes` may be at different instants; `source` says where
    they come from. A peak of the statistics that stems from before the run is unknown; reserved is then what was
    reserved at the end. `limit_bytes` is the memory of the device, or what the process
    allowed torch of it.

    Over the steps after the first, where there are at least two steps (else None): `stays_bytes` is the smallest
    allocation (None where the curve is relative), `transient_bytes` the largest − the smallest, what comes and goes
    within a step. `activations_bytes` is the median over them of what is live
    when the first autograd node begins − the smallest allocation before it in that step: what forward keeps for
    backward, the batch included. `lowest_by_step_bytes` are the smallest allocations of each (empty with fewer steps),
    `growth_per_step_bytes` is the median difference from one to the next. `retries` and `ooms` are the allocator's
    counts in the run.
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
    stays_bytes: int | None
    transient_bytes: int | None
    activations_bytes: int | None
    lowest_by_step_bytes: tuple[int, ...]
    growth_per_step_bytes: float | None
    retries: int | None
    ooms: int | None

    @property
    def batches_that_fit(self) -> int | None:
        """How many times the batch fits in 90 % of the device, if all that comes and goes within a step grows with it.

        A power of two, at least 2; None where not even two fit, or unknown.
        """
        if not self.transient_bytes or not self.limit_bytes or self.stays_bytes is None:
            return None
        times = (_FILL * self.limit_bytes - self.stays_bytes) / self.transient_bytes
        return int(2 ** np.floor(np.log2(times))) if times >= 2 else None

    @property
    def whole_peak_bytes(self) -> int | None:
        """The peak of allocated bytes, everything live included; None where the curve counts from its own start."""
        return None if self.source == FROM_SUMS else self.peak_allocated_bytes


@dataclass(frozen=True)
class MemoryPeak(Result):
    """Every device with memory figures, and the host; empty / None where nothing was recorded.

    Where a device was in use, a host peak under NEGLIGIBLE_BYTES is None too: those are scalars and seeds.
    """

    devices: tuple[MemoryUse, ...]
    host: MemoryUse | None

    @property
    def primary(self) -> MemoryUse | None:
        """The device with the highest peak."""
        return max(self.devices, key=lambda use: use.peak_allocated_bytes or 0, default=None)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From `[memory]` rows, and from the allocator's statistics of a live run."""
        memory = trace.memory
        on_host = memory["device_type"] == MemoryDevice.CPU
        statistics = {each.device: each for each in trace.context.allocators}
        ids = sorted({int(i) for i in np.unique(memory["device"][~on_host])} | set(statistics))
        return cls(
            devices=tuple(
                _use(trace, memory.take(~on_host & (memory["device"] == i)), i, statistics.get(i)) for i in ids
            ),
            host=_host(trace, memory.take(on_host)),
        )


def _host(trace: Trace, rows: Table) -> MemoryUse | None:
    if not len(rows):
        return None
    use = _use(trace, rows, None, None)
    negligible = trace.device_recorded is not None and (use.peak_allocated_bytes or 0) < NEGLIGIBLE_BYTES
    return None if negligible else use


def _use(trace: Trace, rows: Table, device: int | None, statistics: Allocator | None) -> MemoryUse:
    rows = rows.take(np.argsort(rows["time_ns"], kind="stable"))
    relative = device is None or not (rows["allocated_bytes"] >= 0).all()
    allocated = np.cumsum(rows["bytes"]) if relative else rows["allocated_bytes"]
    peak = _peak(rows, allocated, relative, statistics)
    by_step = _StepMemory(trace, rows["time_ns"], allocated)
    known = None if device is None else trace.device(device)
    return MemoryUse(
        device=device,
        name=known.name if known else None,
        time_ns=rows["time_ns"],
        allocated_bytes=allocated.astype(np.int64),
        reserved_bytes=rows["reserved_bytes"],
        relative=bool(relative),
        source=peak.source,
        peak_allocated_bytes=peak.allocated,
        peak_at_ns=peak.at_ns,
        peak_reserved_bytes=peak.reserved,
        limit_bytes=_limit(known.memory_bytes if known else _host_memory(trace), statistics),
        stays_bytes=None if relative else by_step.lowest(),
        transient_bytes=by_step.transient(),
        activations_bytes=by_step.activations(),
        lowest_by_step_bytes=by_step.all_lowest(),
        growth_per_step_bytes=by_step.growth(),
        retries=statistics.retries if statistics else None,
        ooms=statistics.ooms if statistics else None,
    )


class _Peak(NamedTuple):
    allocated: int | None
    at_ns: int | None
    reserved: int | None
    source: str


def _peak(rows: Table, allocated: Array, relative: bool, statistics: Allocator | None) -> _Peak:
    """The higher of what the rows and the statistics show; the rows may cover a part of the run only."""
    highest = int(np.argmax(allocated)) if len(rows) else None
    reserved = int(rows["reserved_bytes"].max(initial=-1))
    known = None if statistics is None or statistics.peak_in_run is False else statistics
    if statistics is not None:
        reserved = max(reserved, known.peak_reserved_bytes if known else statistics.reserved_after_bytes)
    reached = reserved if reserved > 0 else None
    if known is not None and (highest is None or relative or known.peak_allocated_bytes > allocated[highest]):
        return _Peak(known.peak_allocated_bytes, None, reached, FROM_STATISTICS)
    if highest is None:
        return _Peak(None, None, reached, FROM_STATISTICS)
    at = int(rows["time_ns"][highest])
    return _Peak(int(allocated[highest]), at, reached, FROM_SUMS if relative else FROM_ROWS)


def _limit(whole_bytes: int | None, statistics: Allocator | None) -> int | None:
    allowed = statistics.limit_bytes if statistics else None
    return whole_bytes if allowed is None else min(allowed, whole_bytes or allowed)


def _host_memory(trace: Trace) -> int | None:
    environment = trace.context.environment
    return environment.host_memory_bytes if environment else None


class _StepMemory:
    """The curve cut at the steps; the first step is left out, since it allocates what stays."""

    def __init__(self, trace: Trace, times: Array, allocated: Array):
        starts = np.sort(trace.steps["start_ns"])[1:]
        ends = np.sort(trace.steps["start_ns"] + trace.steps["duration_ns"])[1:]
        self._times, self._allocated = times, allocated
        self._begins = np.searchsorted(times, starts)
        self._stops = np.searchsorted(times, ends)
        filled = self._stops > self._begins
        self._begins, self._stops = self._begins[filled], self._stops[filled]
        self._backward = np.sort(trace.operators["start_ns"][backward_mask(trace)])
        self._starts, self._ends = starts[filled], ends[filled]
        self._lowest = [int(allocated[a:b].min()) for a, b in zip(self._begins, self._stops, strict=True)]

    def lowest(self) -> int | None:
        return min(self._lowest, default=None)

    def all_lowest(self) -> tuple[int, ...]:
        return tuple(self._lowest)

    def transient(self) -> int | None:
        if not self._lowest:
            return None
        return int(self._allocated[self._begins[0] : self._stops[-1]].max()) - min(self._lowest)

    def growth(self) -> float | None:
        return float(np.median(np.diff(self._lowest))) if len(self._lowest) > 1 else None

    def activations(self) -> int | None:
        kept = []
        for start, end, begin in zip(self._starts, self._ends, self._begins, strict=True):
            at = np.searchsorted(self._backward, start)
            if at == len(self._backward) or self._backward[at] >= end:
                continue
            row = int(np.searchsorted(self._times, self._backward[at]))
            if row > begin:
                kept.append(int(self._allocated[row - 1] - self._allocated[begin:row].min()))
        return int(np.median(kept)) if kept else None
