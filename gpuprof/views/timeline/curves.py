"""The lanes of curves: allocator bytes, the device's readings, this process's readings."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.views.timeline.lanes import Curve, CurveLane

# A reading this many times the usual distance after the one before leaves a hole, not a straight line.
SILENT_AFTER = 4
LIMIT_WITHIN = 2.5

_METRICS = (
    ("utilisation_percent", "utilisation", "%", 1.0, 100.0),
    ("power_mw", "power", "W", 1e-3, None),
    ("sm_clock_mhz", "SM clock", "MHz", 1.0, None),
    ("temperature_c", "temperature", "°C", 1.0, None),
    ("memory_used_bytes", "memory used (whole device)", "bytes", 1.0, None),
)


def memory(peak: MemoryPeak, origin_ns: int, span_ns: int) -> list[CurveLane]:
    """One lane a device of allocated and reserved bytes; the host's where no device has one."""
    lanes = []
    for use in peak.devices:
        word = f"GPU {use.device} memory" if len(peak.devices) > 1 else "GPU memory"
        lanes += _allocator_lane(use, origin_ns, span_ns, word)
    if not lanes and peak.host is not None:
        lanes += _allocator_lane(peak.host, origin_ns, span_ns, "host memory")
    return lanes


def _allocator_lane(use: MemoryUse, origin_ns: int, span_ns: int, word: str) -> list[CurveLane]:
    if not len(use.time_ns):
        return []
    time = use.time_ns - origin_ns
    curves = []
    for label, values in (("allocated", use.allocated_bytes), ("reserved", use.reserved_bytes)):
        known = values >= 0
        if known.any() and values.max() > 0:
            text = f"{label}, counted from the start" if use.relative else label
            curves.append(_allocator_curve(text, time[known], values[known], span_ns, filled=label == "allocated"))
    if not curves:
        return []
    top = max(float(curve.value.max()) for curve in curves)
    # A limit far above the curve would press it flat.
    limit = float(use.limit_bytes) if use.limit_bytes and use.limit_bytes <= LIMIT_WITHIN * top else None
    return [CurveLane(word, f"{word}, by torch's allocator", "bytes", tuple(curves), max(top, limit or 0.0), limit)]


def _allocator_curve(label: str, time: Array, value: Array, span_ns: int, *, filled: bool) -> Curve:
    at = int(np.argmax(value))
    peak = (int(time[at]), float(value[at])) if filled else None
    real = value.astype(np.float64)
    return Curve(label, "memory", "bytes", time, real, filled=filled, dashed=not filled, peak=peak, hold_ns=span_ns)


def device_readings(trace: Trace, origin_ns: int, span_ns: int) -> list[CurveLane]:
    """One lane a metric and sampled device; metrics that were never read have none."""
    table = trace.device_readings
    devices = np.unique(table["device"]).tolist()
    lanes = []
    for device in devices:
        rows = np.flatnonzero(table["device"] == device)
        prefix = f"GPU {device} " if len(devices) > 1 else ""
        for column, label, unit, scale, top in _METRICS:
            if column == "memory_used_bytes" and trace.memory:
                continue
            values = table[column][rows].astype(np.float64)
            values[values < 0] = np.nan
            lane = _sample_lane(
                f"{prefix}{label}", unit, table["time_ns"][rows] - origin_ns, values * scale, span_ns, top
            )
            lanes += [lane] if lane else []
    return lanes


def host_readings(trace: Trace, origin_ns: int, span_ns: int) -> list[CurveLane]:
    """CPU use and resident memory of this process, where they were sampled."""
    table = trace.host_readings
    time = table["time_ns"] - origin_ns
    lanes = (
        _sample_lane("process CPU", "% of a core", time, table["cpu_percent"].astype(np.float64), span_ns, None),
        _sample_lane("process memory", "bytes", time, table["resident_bytes"].astype(np.float64), span_ns, None),
    )
    return [lane for lane in lanes if lane]


def _sample_lane(
    label: str, unit: str, time: Array, values: Array, span_ns: int, top: float | None
) -> CurveLane | None:
    order = np.argsort(time, kind="stable")
    time, values = time[order], values[order]
    inside = (time >= 0) & (time <= span_ns)
    if len(time):
        # the reading before the recording began still holds at its start
        inside[max(int(np.searchsorted(time, 0)) - 1, 0)] = True
    time, values = time[inside], values[inside]
    if np.isfinite(values).sum() < 2:
        return None
    period = int(np.median(np.diff(time)))
    time, values = _with_holes(time, values, SILENT_AFTER * max(period, 1))
    curve = Curve(label, "reading", unit, time, values, hold_ns=period)
    return CurveLane(label, f"{label}, sampled", unit, (curve,), top or float(np.nanmax(values)) or 1.0)


def _with_holes(time: Array, values: Array, longest_ns: int) -> tuple[Array, Array]:
    """Adds a NaN after each reading that is followed by silence longer than `longest_ns`."""
    silent = np.flatnonzero(np.diff(time) > longest_ns)
    return np.insert(time, silent + 1, time[silent] + longest_ns // 2), np.insert(values, silent + 1, np.nan)
