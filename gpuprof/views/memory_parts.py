"""What the peak of memory is made of, and what the notebook holds, in words that every view shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.memory_composition import MemoryComposition, PeakParts
from gpuprof.analyses.memory.memory_peak import MemoryPeak, MemoryUse
from gpuprof.model.memory import HeldTensors, ModuleBytes
from gpuprof.units import UNKNOWN, percent, plural, size

KINDS = {
    "global": "variable",
    "module": "model or optimizer",
    "output": "output",
    "traceback": "last traceback",
    "hook": "forward hook",
    "frame": "variable of a function",
    "peak": "variable, at the peak",
}


@dataclass(frozen=True)
class PartRow:
    """One part of the peak: `bytes` (None unknown), `text` as shown (a range where it is one), `share` of the peak."""

    label: str
    bytes: int | None
    text: str
    share: float | None


def known_parts(results: Results) -> tuple[PeakParts, ...]:
    """The devices, or the host, whose composition is known."""
    return tuple(part for part in results.get(MemoryComposition).parts if part.parameter_bytes is not None)


def place(parts: PeakParts) -> str:
    """`device 0 (NVIDIA A100)`, or `host`."""
    if parts.device is None:
        return "host"
    return f"device {parts.device}" + (f" ({parts.name})" if parts.name else "")


def part_rows(parts: PeakParts) -> list[PartRow]:
    """Every part of the peak, those of nothing left out; they add up to the peak where it is known."""
    live = parts.live_gradient_bytes
    gradients = parts.gradient_bytes if live is None else live
    rows = [
        _row(parts, "parameters", parts.parameter_bytes),
        _row(parts, "gradients", gradients, "at most " if live is None and gradients and parts.peak_bytes else ""),
        _row(parts, "optimizer state", parts.state_bytes),
        _row(parts, "buffers", parts.buffer_bytes),
        _rest(parts),
    ]
    return [row for row in rows if row.bytes != 0]


def around_note(parts: PeakParts) -> str:
    """What lies beside the parts: reserved and free, and outside of torch; empty where unknown."""
    notes = []
    if parts.unused_reserved_bytes is not None:
        when = "at the peak" if parts.same_instant else "at most, between the two peaks"
        notes.append(f"Reserved and free: {size(parts.unused_reserved_bytes)} {when}.")
    if parts.outside_bytes is not None:
        notes.append(
            f"In use on the device outside of torch’s allocator (context, libraries, other processes): "
            f"{size(parts.outside_bytes)} at most, by the driver."
        )
    return " ".join(notes)


def module_rows(parts: PeakParts) -> tuple[ModuleBytes, ...]:
    """The parts of the models, largest first."""
    return parts.modules


def held_rows(results: Results) -> tuple[HeldTensors, ...]:
    """What the names of the notebook hold, largest first; empty where it was not looked at."""
    return results.trace.context.held or ()


def memory_line(results: Results) -> str:
    """One line: the peak, what it is made of, what is reserved and what lies outside of torch; empty if unknown."""
    peak = results.get(MemoryPeak)
    composition = results.get(MemoryComposition)
    use = peak.primary or peak.host
    parts = composition.of_device(use.device if use else None) or composition.primary
    known = parts if parts is not None and parts.parameter_bytes is not None else None
    if use is None and known is None:
        return ""
    head = _head(use, known)
    made = "" if known is None else ", ".join(f"{row.label} {row.text}" for row in part_rows(known))
    if made:
        made = f" ({made})" if known is not None and ":" in head else f": {made}"
    more = " (--memory shows them)" if use is None else ""
    return f"{head}{made}{more}{''.join(_around(use, parts))}."


def _head(use: MemoryUse | None, known: PeakParts | None) -> str:
    if known is not None and known.device is None:
        return f"Peak memory of the host: {size(known.peak_bytes)}" if known.peak_bytes else "Memory of the host"
    if use is None or use.peak_allocated_bytes is None:
        return f"Memory of device {use.device}" if use and use.device is not None else "Memory"
    where = "of the host" if use.device is None else f"of device {use.device}"
    above = " above the start of the recording" if use.whole_peak_bytes is None else ""
    of = f" of {size(use.limit_bytes)}" if use.limit_bytes and not above else ""
    return f"Peak memory {where}: {size(use.peak_allocated_bytes)}{above}{of}"


def _around(use: MemoryUse | None, parts: PeakParts | None) -> Iterator[str]:
    if use is not None and use.device is not None and use.peak_reserved_bytes is not None:
        yield f"; reserved {size(use.peak_reserved_bytes)}"
    if use is not None and use.retries:
        yield f", retried {plural(use.retries, 'time')}"
    if parts is not None and parts.outside_bytes:
        yield f"; outside of torch {size(parts.outside_bytes)}"


def _row(parts: PeakParts, label: str, count: int | None, before: str = "") -> PartRow:
    share = count / parts.peak_bytes if count is not None and parts.peak_bytes and not before else None
    return PartRow(label, count, before + (UNKNOWN if count is None else size(count)), share)


def _rest(parts: PeakParts) -> PartRow:
    low, high = parts.rest_low_bytes, parts.rest_high_bytes
    row = _row(parts, "activations and temporaries", high)
    if low is None or high is None or low == high:
        return row
    return PartRow(row.label, high, f"{size(low)} to {size(high)}", None)


def share_text(row: PartRow) -> str:
    """The share of the peak, empty where it is not one number."""
    return "" if row.share is None else percent(row.share)
