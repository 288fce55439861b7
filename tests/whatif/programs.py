"""Small programs that are run twice: by a model of host and device that is known to be true, and by simulation.

A program is a list of instructions: ("work", µs), ("kernel", stream, µs), ("fetch", µs) (a copy to the host that
blocks), ("sync", stream) and ("sync_all",).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from gpuprof.model.schema import SYNCS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

LAUNCH_CALL_US, LAUNCH_LAG_US, STREAM_GAP_US, SYNC_CALL_US, RETURN_LAG_US = 5, 8, 1, 4, 10
Program = list[tuple[Any, ...]]

_us = st.integers(1, 300)
_stream = st.sampled_from([7, 20])
_instructions = st.one_of(
    st.tuples(st.just("work"), _us),
    st.tuples(st.just("kernel"), _stream, _us),
    st.tuples(st.just("kernel"), _stream, _us),
    st.tuples(st.just("fetch"), _us),
    st.tuples(st.just("sync"), _stream),
    st.tuples(st.just("sync_all")),
)
programs = st.lists(_instructions, min_size=1, max_size=25).map(lambda each: [*each, ("kernel", 7, 10), ("sync_all",)])


def run(program: Program, *, sync_events: bool = True) -> Trace:
    """What the program does on a host and a device of known costs, as recorded with or without cuda_sync events."""
    builder, now, ends = TraceBuilder(), 0.0, defaultdict(float)
    awaits: list[tuple[float, int]] = []
    for name, *rest in program:
        if name == "work":
            builder.operator("aten::work", now, rest[0])
            now += rest[0]
        elif name in ("kernel", "fetch"):
            stream, duration = rest if name == "kernel" else (7, rest[0])
            begin = max(now + LAUNCH_LAG_US, ends[stream] + STREAM_GAP_US)
            ends[stream] = begin + duration
            if name == "kernel":
                builder.kernel("k", begin, duration, stream=stream, launch_at_us=now, launch_for_us=LAUNCH_CALL_US)
                now += LAUNCH_CALL_US
            else:
                back = ends[stream] + RETURN_LAG_US
                call = {"launch": "cudaMemcpy", "launch_at_us": now, "launch_for_us": back - now}
                builder.copy("d2h", begin, duration, host_memory="pageable", stream=stream, **call)
                now = back
        else:
            awaited = [ends[rest[0]]] if name == "sync" else list(ends.values())
            back = max([now + SYNC_CALL_US, *(end + RETURN_LAG_US for end in awaited if end)])
            builder.sync(now, back - now, "cudaStreamSynchronize" if name == "sync" else "cudaDeviceSynchronize")
            awaits.append((now, rest[0] if name == "sync" else -1))
            now = back
    trace = builder.build()
    return _with_sync_events(trace, awaits) if sync_events else trace


def _with_sync_events(trace: Trace, awaits: list[tuple[float, int]]) -> Trace:
    times = [round(at * 1000) for at, _ in awaits]
    rows = [int(np.flatnonzero(trace.calls["start_ns"] == at)[0]) for at in times]
    columns = {"start_ns": times, "name": trace.calls["name"][rows], "device": [0] * len(rows), "call": rows}
    syncs = Table(SYNCS, columns | {"stream": [stream for _, stream in awaits]})
    return replace(trace, tables={**trace.tables, "syncs": syncs})


def span_us(trace: Trace) -> float:
    return trace.span_ns / 1000
