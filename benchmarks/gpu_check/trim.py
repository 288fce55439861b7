"""Trims a recorded run to a few steps, so that it is small enough for a test and loads like any other.

    python -m benchmarks.gpu_check.trim RECORDING_OR_TRACE TARGET [--steps 6] [--most-kb 300]

Kept are the events of the host that begin in the steps, all device work that their calls enqueued, and what the
driver says of their synchronisations; paths, user and host names go. Of an event's text not a byte else is changed.
"""

from __future__ import annotations

import argparse
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.gpu_check.redaction import redacted
from gpuprof.ingest.load import load_trace
from gpuprof.model.context import FollowedLines, RunContext, Window
from gpuprof.model.recording import (
    KINETO,
    is_recording,
    read_context,
    read_large_table,
    read_table,
    write_context,
    write_table,
)
from gpuprof.model.schema import DEVICE_READINGS, HOST_READINGS, LINE_EVENTS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.run import Run

_DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "Kernel", "Memcpy", "Memset"}
_HEAD = {"schemaVersion", "deviceProperties", "baseTimeNanoseconds", "displayTimeUnit", "distributedInfo"}
_HEAD |= {"with_stack", "with_flops", "with_modules", "profile_memory", "record_shapes", "cupti_version"}
_HEAD |= {"cuda_runtime_version", "cuda_driver_version"}
_FRAME = "python_function"
_EPOCH_US = 10**15
# without it the recording counts as cut off
_END = "Record Window End"
STEPS = 6  # rules that look for a habit want three at least
MOST_BYTES = 300_000
_MOST_EVENTS = 4_000  # of a trace without steps


class _Args(msgspec.Struct, gc=False):
    correlation: Any = None


class _Event(msgspec.Struct, gc=False):
    ph: str | None = None
    name: str = ""
    cat: str | None = None
    ts: msgspec.Raw = msgspec.Raw(b"")
    args: _Args | None = None


@dataclass(frozen=True)
class Span:
    """What is kept: from `start_ns` to `end_ns` of the trace, `steps` steps of it, the first being `first_step`."""

    start_ns: int
    end_ns: int
    first_step: int
    steps: int


def trim(source: Path, target: Path, *, steps: int = STEPS, most_bytes: int = MOST_BYTES) -> Path:
    """Trim a Recording folder to the folder `target`, or a trace file to the file `target` (`*.json.gz`).

    With fewer steps, one at least, and then without Python's frames, where the trace would be larger than
    `most_bytes`; returns `target`. TraceError or RecordingError where the source cannot be read.
    """
    trace = load_trace(source)
    kineto = source / KINETO if source.is_dir() else source
    decoded = Kineto(_text(kineto)) if kineto.exists() else None
    wanted, frames = max(1, min(steps, len(trace.steps))), True
    while True:
        span = choose(trace, wanted)
        packed = b"" if decoded is None else gzip.compress(decoded.cut(span, frames=frames), 6, mtime=0)
        if len(packed) <= most_bytes or not frames:
            break
        if wanted == 1:
            frames = False
        else:
            wanted = max(1, min(wanted - 1, wanted * most_bytes // len(packed)))
    if is_recording(source):
        _write_recording(source, target, span, packed)
    else:
        target.write_bytes(packed)
    return target


def choose(trace: Trace, steps: int) -> Span:
    """That many steps in a row, after the first two where there are enough, the row whose length is the most usual."""
    begins, lasts = trace.steps["start_ns"], trace.steps["duration_ns"]
    if not len(begins):
        starts = np.sort(trace.operators["start_ns"])
        if len(starts) <= _MOST_EVENTS:
            return Span(trace.span_start_ns, trace.span_end_ns, 0, 0)
        middle = len(starts) // 2
        return Span(int(starts[middle - _MOST_EVENTS // 2]), int(starts[middle + _MOST_EVENTS // 2]), 0, 0)
    steps = min(steps, len(begins))
    first = min(2, len(begins) - steps)
    ends = begins + lasts
    lengths = ends[steps - 1 :] - begins[: len(begins) - steps + 1]
    usual = np.median(lengths[first:])
    at = first + int(np.argmin(np.abs(lengths[first:] - usual)))
    # the next asking for a batch shows where the last step ends
    mark = 1 if trace.steps_from == "DataLoader" else 0
    return Span(int(begins[at]), int(ends[at + steps - 1]) + mark, at, steps)


class Kineto:
    """The JSON of a Kineto trace, decoded once; msgspec's DecodeError where it is no JSON."""

    def __init__(self, text: bytes):
        decoded = msgspec.json.decode(text, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
        self._head = decoded if isinstance(decoded, dict) else {}
        self._raw = (
            msgspec.json.decode(decoded["traceEvents"], type=list[msgspec.Raw])
            if isinstance(decoded, dict)
            else decoded
        )
        self._events = [msgspec.json.decode(each, type=_Event) for each in self._raw]
        base = self._head.get("baseTimeNanoseconds")
        self._base_ns = 0 if base is None else int(msgspec.json.decode(base))

    def cut(self, span: Span, *, frames: bool = True) -> bytes:
        """The same with only what belongs to the span, with Python's `frames` or without."""
        inside = _inside(self._events, self._base_ns, span)
        if not frames:
            inside = [here and event.cat != _FRAME for here, event in zip(inside, self._events, strict=True)]
        rows = list(zip(self._raw, self._events, inside, strict=True))
        called = {_correlation(event) for _, event, here in rows if here} - {None}
        kept = [
            bytes(raw)
            for raw, event, here in rows
            if event.ph == "M" or event.name == _END or here or (event.cat in _DEVICE and _correlation(event) in called)
        ]
        fields = [b'"%s":%s' % (name.encode(), bytes(value)) for name, value in self._head.items() if name in _HEAD]
        body = b"[\n" + b",\n".join(kept) + b"\n]"
        return redacted(b"{" + b",\n".join([*fields, b'"traceEvents":' + body]) + b"}")


def _inside(events: list[_Event], base_ns: int, span: Span) -> list[bool]:
    """Whether each is of the host and begins in the span."""
    starts = [_ns(event.ts) for event in events]
    if max(starts, default=0) >= _EPOCH_US * 1000:
        base_ns = 0
    return [
        event.cat not in _DEVICE and event.ph in ("X", "i", "I") and span.start_ns <= base_ns + start < span.end_ns
        for event, start in zip(events, starts, strict=True)
    ]


def _ns(microseconds: msgspec.Raw) -> int:
    """Exactly as written; some exporters write numbers as text."""
    text = bytes(microseconds).strip(b' "')
    whole, _, part = text.partition(b".")
    if whole.isdigit() and (not part or part.isdigit()):
        return int(whole) * 1000 + int((part + b"000")[:3])
    try:
        return round(float(text) * 1000)
    except (ValueError, OverflowError):
        return 0


def _correlation(event: _Event) -> Any:
    """The id that joins calls and device work; None without one (0 joins nothing)."""
    return (event.args.correlation or None) if event.args is not None else None


def _text(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw


def _write_recording(source: Path, target: Path, span: Span, packed: bytes) -> None:
    target.mkdir(parents=True, exist_ok=True)
    if packed:
        (target / KINETO).write_bytes(packed)
    for schema in (DEVICE_READINGS, HOST_READINGS):
        write_table(target, read_table(source, schema))
    context = read_context(source)
    lines = _lines(read_large_table(source, LINE_EVENTS), span)
    if len(lines):
        columns: dict[str, Any] = {column.name: lines[column.name] for column in LINE_EVENTS.columns}
        np.savez_compressed(target / f"{LINE_EVENTS.name}.npz", **columns)
    write_context(target, _cut(context, span))


def _lines(lines: Table, span: Span) -> Table:
    """Those of the span, and of each thread the one that holds when it begins."""
    times, threads = lines["time_ns"], lines["tid"]
    kept = (times >= span.start_ns) & (times < span.end_ns)
    for thread in np.unique(threads):
        before = np.flatnonzero((threads == thread) & (times < span.start_ns))
        if len(before):
            kept[before[np.argmax(times[before])]] = True
    return lines.take(kept)


def _cut(context: RunContext, span: Span) -> RunContext:
    """As if only the span had been recorded; what was counted over the whole cell stays."""
    change: dict[str, Any] = {}
    window, lines = context.window, context.lines
    if window is not None and span.steps:
        first = window.first_step + span.first_step
        change["window"] = _with(
            window,
            start_ns=span.start_ns,
            end_ns=span.end_ns,
            first_step=first,
            steps_recorded=span.steps,
            ended_by="steps",
        )
    if lines is not None:
        change["lines"] = _with(
            lines, start_ns=max(lines.start_ns, span.start_ns), end_ns=min(lines.end_ns, span.end_ns)
        )
    context = msgspec.structs.replace(context, **change)
    return msgspec.json.decode(redacted(msgspec.json.encode(context)), type=RunContext)


def _with(struct: Window | FollowedLines, **change: Any) -> Any:
    return msgspec.structs.replace(struct, **change)


def findings_of(path: Path) -> list[str]:
    """The rules that fire on a run, best first: the same before and after, where nothing that they need was cut."""
    return [finding.rule for finding in Run.load(path).findings]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--most-kb", type=float, default=MOST_BYTES / 1000)
    chosen = parser.parse_args()
    trim(chosen.source, chosen.target, steps=chosen.steps, most_bytes=int(chosen.most_kb * 1000))
    for name, path in (("before", chosen.source), ("after", chosen.target)):
        size = sum(each.stat().st_size for each in (path.rglob("*") if path.is_dir() else [path]) if each.is_file())
        print(f"{name}: {size / 1000:.0f} kB, {', '.join(findings_of(path)) or 'no finding'}")


if __name__ == "__main__":
    main()
