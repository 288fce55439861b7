"""What the peak of memory is made of: parameters, gradients, optimizer state, buffers, and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.device.device_health import DeviceHealth
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model import intervals
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_ZERO = "Optimizer.zero_grad#"
_ALL = 0.99


@dataclass(frozen=True)
class PeakParts:
    """One device's memory by category, or the host's (`device` None). Bytes; None is *unknown*.

    `parameter_bytes`, `state_bytes`, `buffer_bytes` and `gradient_bytes` are exact sizes by storage, as capture found
    them; whether the gradients were live at the peak is told by `live_gradient_bytes`, where the allocator's rows show
    it. `peak_bytes` is the peak that the parts add up to: that of allocated bytes on a device; on the host, whose rows
    count from the start of the recording, the known parts + what comes and goes within a step.
    `rest_low_bytes` to `rest_high_bytes`: activations and temporaries, all of the peak that is none of the above; they
    differ by the gradients where it is unknown whether those were live. `modules`: the parts of the models.

    `unused_reserved_bytes`: reserved − allocated at the peak of allocated bytes, or between the two maxima of the
    statistics (`same_instant` False: at least one was reached at another time). `outside_bytes`: what the driver saw in
    use on the whole device at most, less the peak reserved: context, libraries, other processes.
    """

    device: int | None
    name: str | None
    peak_bytes: int | None
    parameter_bytes: int | None
    gradient_bytes: int | None
    state_bytes: int | None
    buffer_bytes: int | None
    live_gradient_bytes: int | None
    rest_low_bytes: int | None
    rest_high_bytes: int | None
    modules: tuple[ModuleBytes, ...]
    unused_reserved_bytes: int | None
    same_instant: bool
    outside_bytes: int | None

    @property
    def kept_bytes(self) -> int | None:
        """Parameters, optimizer state and buffers: what stays from step to step."""
        if self.parameter_bytes is None:
            return None
        return self.parameter_bytes + (self.state_bytes or 0) + (self.buffer_bytes or 0)


@dataclass(frozen=True)
class MemoryComposition(Result):
    """One entry for each device with memory figures, in the order of MemoryPeak; the host only where no device has."""

    parts: tuple[PeakParts, ...]

    @property
    def primary(self) -> PeakParts | None:
        """The device with the highest peak, else the host."""
        return max(self.parts, key=lambda part: part.peak_bytes or 0, default=None)

    def of_device(self, device: int | None) -> PeakParts | None:
        """The entry of that device; None where there is none."""
        return next((part for part in self.parts if part.device == device), None)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what capture weighed, and the peak."""
        peak = results.get(MemoryPeak)
        weighed = {each.device: each for each in trace.context.compositions}
        outside = {each.torch_index: each.used_max_bytes for each in results.get(DeviceHealth).devices}
        if peak.devices:
            return cls(
                tuple(
                    _device_parts(trace, use, weighed.get(f"cuda:{use.device}"), outside.get(use.device))
                    for use in peak.devices
                )
            )
        known = weighed.get("cpu")
        if peak.host is None and known is None:
            return cls(())
        return cls((_host_parts(trace, peak.host, known),))


def _device_parts(trace: Trace, use: MemoryUse, known: Composition | None, used: int | None) -> PeakParts:
    peak = use.whole_peak_bytes
    at = None if peak is None or use.peak_at_ns is None else use.peak_at_ns
    live = _live_gradients(trace, use, at, known)
    low, high = _rest(peak, known, live)
    unused, same = _unused(use)
    outside = None if used is None or use.peak_reserved_bytes is None else max(used - use.peak_reserved_bytes, 0)
    return PeakParts(
        device=use.device,
        name=use.name,
        peak_bytes=peak,
        **_sizes(known),
        live_gradient_bytes=live,
        rest_low_bytes=low,
        rest_high_bytes=high,
        modules=known.modules if known else (),
        unused_reserved_bytes=unused,
        same_instant=same,
        outside_bytes=outside,
    )


def _host_parts(trace: Trace, use: MemoryUse | None, known: Composition | None) -> PeakParts:
    peak = live = rest = None
    rows = None if use is None else _steady_rows(trace, use)
    if use is not None and rows is not None and known is not None and known.whole:
        highest, lowest = rows[np.argmax(use.allocated_bytes[rows])], rows[np.argmin(use.allocated_bytes[rows])]
        live = _live_gradients(trace, use, int(use.time_ns[highest]), known)
        live_at_lowest = _live_gradients(trace, use, int(use.time_ns[lowest]), known)
        if live is not None and live_at_lowest is not None:
            moved = int(use.allocated_bytes[highest] - use.allocated_bytes[lowest])
            rest = max(moved - live + live_at_lowest, 0)
            peak = known.parameter_bytes + known.state_bytes + known.buffer_bytes + live + rest
    return PeakParts(
        device=None,
        name=None,
        peak_bytes=peak,
        **_sizes(known),
        live_gradient_bytes=live,
        rest_low_bytes=rest,
        rest_high_bytes=rest,
        modules=known.modules if known else (),
        unused_reserved_bytes=None,
        same_instant=False,
        outside_bytes=None,
    )


def _sizes(known: Composition | None) -> dict[str, int | None]:
    names = ("parameter_bytes", "gradient_bytes", "state_bytes", "buffer_bytes")
    return {name: getattr(known, name) if known else None for name in names}


def _rest(peak: int | None, known: Composition | None, live: int | None) -> tuple[int | None, int | None]:
    if peak is None or known is None or not known.whole:
        return None, None
    most = peak - known.parameter_bytes - known.state_bytes - known.buffer_bytes
    low = most - (known.gradient_bytes if live is None else live)
    high = most if live is None else low
    # less than what is kept: the figures are not of the same moment
    return (max(low, 0), high) if high >= 0 else (None, None)


def _unused(use: MemoryUse) -> tuple[int | None, bool]:
    if use.peak_allocated_bytes is None:
        return None, False
    if use.peak_at_ns is not None and not use.relative:
        reserved = int(use.reserved_bytes[int(np.argmax(use.allocated_bytes))])
        if reserved > 0:
            return max(reserved - use.peak_allocated_bytes, 0), True
    if use.peak_reserved_bytes is None or use.relative:
        return None, False
    return max(use.peak_reserved_bytes - use.peak_allocated_bytes, 0), False


def _steady_rows(trace: Trace, use: MemoryUse) -> Array | None:
    """The rows of the steps after the first, as far as it can be told of them which gradients were live."""
    starts = np.sort(trace.steps["start_ns"])
    if len(starts) < 2:
        return None
    end = int((trace.steps["start_ns"] + trace.steps["duration_ns"]).max())
    zeroed = _Zeroed.of(trace, use.device)
    if zeroed is not None and zeroed.bytes.sum():
        end = min(end, int(zeroed.starts[-1]) - 1)
    rows = np.flatnonzero((use.time_ns >= starts[1]) & (use.time_ns <= end))
    return rows if len(rows) else None


@dataclass(frozen=True, eq=False)
class _Zeroed:
    """What `zero_grad` released: rows of the memory table, by the range that they lie in."""

    starts: Array
    times: Array
    addresses: Array
    bytes: Array

    @classmethod
    def of(cls, trace: Trace, device: int | None) -> _Zeroed | None:
        """None where no such range was recorded, or the rows have no addresses."""
        ranges = trace.user_ranges.take(trace.name_mask(trace.user_ranges, _ZERO))
        memory = trace.memory
        on_host = memory["device_type"] == MemoryDevice.CPU
        here = on_host if device is None else ~on_host & (memory["device"] == device)
        rows = memory.take(here)
        if not len(ranges) or not len(rows) or (rows["address"] < 0).any():
            return None
        inside = intervals.contains(intervals.union(intervals.of(ranges)), rows["time_ns"]) & (rows["bytes"] < 0)
        chosen = rows.take(inside)
        return cls(np.sort(ranges["start_ns"]), chosen["time_ns"], chosen["address"], -chosen["bytes"])


def _live_gradients(trace: Trace, use: MemoryUse, at_ns: int | None, known: Composition | None) -> int | None:
    """Bytes of gradients that were live at that instant: those released by the next `zero_grad`, allocated before."""
    if known is None:
        return None
    if known.gradient_bytes == 0:
        return 0
    zeroed = _Zeroed.of(trace, use.device)
    if zeroed is None or at_ns is None:
        return None
    if not zeroed.bytes.sum():
        return known.gradient_bytes
    after = zeroed.starts[zeroed.starts > at_ns]
    following = np.searchsorted(zeroed.starts, zeroed.times, side="right") - 1
    mine = zeroed.starts[following] == after[0] if len(after) else np.zeros(len(zeroed.times), bool)
    if zeroed.bytes[mine].sum() < _ALL * known.gradient_bytes:
        return None
    # one that is allocated anew in between was not there at that instant
    memory = trace.memory
    between = (memory["time_ns"] > at_ns) & (memory["time_ns"] < zeroed.times[mine].max())
    fresh = memory["address"][between & (memory["bytes"] > 0)]
    return int(zeroed.bytes[mine][~np.isin(zeroed.addresses[mine], fresh)].sum())
