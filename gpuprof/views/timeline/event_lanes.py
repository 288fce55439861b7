"""The lanes of events: steps, each stream of each device, each host thread."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpuprof import units
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.views.timeline.facts import Facts
from gpuprof.views.timeline.lanes import Events, Lane, Series, lay_out
from gpuprof.views.timeline.names import NameTable

OPEN_THREADS = 3
HOST_KINDS = ("input_wait", "span", "operator", "launch", "sync", "call")
HOST_TABLES = ("user_ranges", "operators", "calls")
DEVICE_KINDS = ("kernel", "copy", "memset", "collective")


def steps(trace: Trace, origin_ns: int, names: NameTable) -> list[Lane]:
    """One lane of the steps, each named with its number and duration; none where no steps were found."""
    table = trace.steps
    if not table:
        return []
    labels = [
        f"step {number} · {units.duration(duration)}"
        for number, duration in zip(table["number"].tolist(), table["duration_ns"].tolist(), strict=True)
    ]
    events = Events(
        start_ns=table["start_ns"] - origin_ns,
        duration_ns=table["duration_ns"],
        name=np.array([names.add(label) for label in labels], np.int64),
        kind=np.zeros(len(table), np.int64),
        table=np.zeros(len(table), np.int64),
        source=np.arange(len(table)),
        kinds=("step",),
        tables=("steps",),
    )
    return [Lane("steps", "steps", lay_out(events), shown=1, row_height=20)]


def streams(trace: Trace, origin_ns: int, names: NameTable, facts: Facts, *, stalls_of: int | None) -> list[Lane]:
    """One lane a stream, by device and stream; the idle time of device `stalls_of` is shaded."""
    table = trace.device_events
    lanes = []
    several = len(trace.device_ids) > 1
    pairs = np.unique(np.stack([table["device"].astype(np.int64), table["stream"]], axis=1), axis=0)
    for device, stream in pairs.tolist():
        rows = np.flatnonzero((table["device"] == device) & (table["stream"] == stream))
        kind = table["kind"][rows].astype(np.int64)
        kind[(kind == DeviceEventKind.KERNEL) & table["collective"][rows]] = DEVICE_KINDS.index("collective")
        events = Events(
            start_ns=table["start_ns"][rows] - origin_ns,
            duration_ns=table["duration_ns"][rows],
            name=names.of_trace(table["name"][rows]),
            kind=kind,
            table=np.zeros(len(rows), np.int64),
            source=rows,
            kinds=DEVICE_KINDS,
            tables=("device_events",),
        )
        laid = _with_details(lay_out(events), facts)
        prefix = f"GPU {device} · " if several else ""
        name = trace.device(device).name
        title = f"stream {stream} of device {device}" + (f" ({name})" if name else "")
        stalled = device == stalls_of
        lanes.append(
            Lane(f"{prefix}stream {stream}", title, laid, shown=3, row_height=22, stalls=stalled, device=device)
        )
    return lanes


def _with_details(rows: tuple[tuple[Series, ...], ...], facts: Facts) -> tuple[tuple[Series, ...], ...]:
    return tuple(
        tuple(replace(series, details=facts.of(series.table, series.kind, series.source)) for series in row)
        for row in rows
    )


def threads(trace: Trace, origin_ns: int, names: NameTable, facts: Facts) -> list[Lane]:
    """One lane a host thread, the main one first, then by recorded time; user ranges, operators and calls nest."""
    spans = trace.user_ranges.take(~trace.name_mask(trace.user_ranges, "ProfilerStep"))
    span_rows = np.flatnonzero(~trace.name_mask(trace.user_ranges, "ProfilerStep"))
    waits = trace.name_mask(spans, "enumerate(DataLoader)")
    call_kind = np.full(len(trace.calls), HOST_KINDS.index("call"), np.int64)
    kinds = trace.calls["kind"]
    call_kind[(kinds >= CallKind.KERNEL) & (kinds <= CallKind.GRAPH)] = HOST_KINDS.index("launch")
    call_kind[kinds == CallKind.SYNCHRONIZE] = HOST_KINDS.index("sync")
    parts = (
        (spans, np.where(waits, HOST_KINDS.index("input_wait"), HOST_KINDS.index("span")), span_rows),
        (trace.operators, np.full(len(trace.operators), HOST_KINDS.index("operator")), np.arange(len(trace.operators))),
        (trace.calls, call_kind, np.arange(len(trace.calls))),
    )
    column = {
        name: np.concatenate([table[name] for table, _, _ in parts])
        for name in ("start_ns", "duration_ns", "name", "thread")
    }
    kind = np.concatenate([part[1] for part in parts])
    source = np.concatenate([part[2] for part in parts])
    which = np.repeat(np.arange(3), [len(table) for table, _, _ in parts])
    if not len(kind):
        return []
    order = np.argsort(column["thread"], kind="stable")
    found, begins = np.unique(column["thread"][order], return_index=True)
    laned = []
    for thread, members in zip(found.tolist(), np.split(order, begins[1:]), strict=True):
        events = Events(
            start_ns=column["start_ns"][members] - origin_ns,
            duration_ns=column["duration_ns"][members],
            name=names.of_trace(column["name"][members]),
            kind=kind[members],
            table=which[members],
            source=source[members],
            kinds=HOST_KINDS,
            tables=HOST_TABLES,
        )
        laned.append((int(thread), _with_details(lay_out(events), facts)))
    return _ordered(trace, laned)


def _ordered(trace: Trace, laned: list[tuple[int, tuple[tuple[Series, ...], ...]]]) -> list[Lane]:
    lanes = []
    for thread, rows in laned:
        label, title = _thread_words(trace, thread)
        main = thread == trace.main_thread
        lanes.append((not main, Lane(label, title, rows, shown=6 if main else 3, row_height=17, main=main)))
    lanes.sort(key=lambda pair: (pair[0], -pair[1].covered_ns))
    ordered = [lane for _, lane in lanes]
    return [lane if i < OPEN_THREADS else replace(lane, shown=1, row_height=14) for i, lane in enumerate(ordered)]


def _thread_words(trace: Trace, thread: int) -> tuple[str, str]:
    tid = int(trace.threads["tid"][thread]) if 0 <= thread < len(trace.threads) else thread
    word = "main thread" if thread == trace.main_thread else f"thread {tid}"
    return word, f"{word} (id {tid})" if thread == trace.main_thread else word


def frames(trace: Trace, origin_ns: int, names: NameTable) -> list[Lane]:
    """One folded lane a host thread of the Python frames, where stacks were recorded."""
    table = trace.frames
    lanes = []
    for thread in np.unique(table["thread"]).tolist():
        rows = np.flatnonzero(table["thread"] == thread)
        zeros: Array = np.zeros(len(rows), np.int64)
        events = Events(
            start_ns=table["start_ns"][rows] - origin_ns,
            duration_ns=table["duration_ns"][rows],
            name=names.of_trace(table["name"][rows]),
            kind=zeros,
            table=zeros,
            source=rows,
            kinds=("python",),
            tables=("frames",),
        )
        word = _thread_words(trace, int(thread))[0]
        label = "Python" if thread == trace.main_thread else word.replace("thread", "Python")
        lanes.append(Lane(label, f"Python frames of the {word}", lay_out(events), shown=2, row_height=15))
    return lanes
