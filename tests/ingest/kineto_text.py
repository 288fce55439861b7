"""Writes small Kineto files: events as dicts, laid out as the profiler lays them out or on one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

Event = dict[str, Any]


def operator(name: str, ts: float, dur: float, **more: Any) -> Event:
    return _host("cpu_op", name, ts, dur, more)


def span(name: str, ts: float, dur: float, **more: Any) -> Event:
    return _host("user_annotation", name, ts, dur, more)


def call(name: str, ts: float, dur: float, correlation: int, **more: Any) -> Event:
    return _host("cuda_runtime", name, ts, dur, more, correlation=correlation)


def kernel(name: str, ts: float, dur: float, correlation: int, **args: Any) -> Event:
    facts = {"device": 0, "stream": 7, "correlation": correlation, "grid": [4, 2, 1], "block": [64, 2, 1], **args}
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur, "args": facts}


def _host(cat: str, name: str, ts: float, dur: float, more: Event, **args: Any) -> Event:
    facts = {**args, **more.pop("args", {})}
    return {"ph": "X", "cat": cat, "name": name, "pid": 10, "tid": 10, "ts": ts, "dur": dur, "args": facts, **more}


EVENTS: list[Event] = [
    span("ProfilerStep#3", 100, 80),
    operator("aten::linear", 105, 40, args={"External id": 1, "Input Dims": [[2, 3], []], "Input type": ["float", ""]}),
    operator("aten::addmm", 110, 30, args={"External id": 2}),
    call("cudaLaunchKernel", 115, 5, 11),
    {"ph": "s", "id": 11, "pid": 10, "tid": 10, "ts": 115, "cat": "ac2g", "name": "ac2g"},
    kernel("void gemm<{lambda(int)#1}, {lambda()#2}>", 130, 40, 11),
    {
        "ph": "i",
        "cat": "cpu_instant_event",
        "s": "t",
        "name": "[memory]",
        "pid": 10,
        "tid": 10,
        "ts": 112,
        "args": {"Addr": 2**63 + 5, "Bytes": -512, "Device Id": 0, "Device Type": 1, "Total Allocated": 1024},
    },
    {"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 10, "tid": 10, "ts": 101, "dur": 70, "args": {}},
    {"ph": "M", "name": "thread_name", "pid": 10, "tid": 10, "ts": 0, "args": {"name": "thread 10 (python)"}},
]


def laid_out(events: list[Event], head: Event | None = None, foot: Event | None = None) -> str:
    """As Kineto writes it: the name of an event ends its line with `", "pid": …`."""
    written = []
    for event in events:
        event = dict(event)
        args = event.pop("args", {})
        first = ", ".join(f'"{key}": {json.dumps(event.pop(key))}' for key in ("ph", "cat", "name") if key in event)
        rest = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in event.items())
        facts = ", ".join(f'"{key}": {json.dumps(value)}' for key, value in args.items())
        written.append(f'  {{\n    {first}, {rest},\n    "args": {{\n      {facts}\n    }}\n  }}')
    before = "".join(f'  "{key}": {json.dumps(value)},\n' for key, value in (head or {"schemaVersion": 1}).items())
    after = "".join(f',\n  "{key}": {json.dumps(value)}' for key, value in (foot or {}).items())
    return "{\n" + before + '  "traceEvents": [\n' + ",\n".join(written) + "\n  ]" + after + "\n}\n"


def compact(events: list[Event], head: Event | None = None, foot: Event | None = None) -> str:
    """On one line, without a space."""
    whole = {**(head or {"schemaVersion": 1}), "traceEvents": events, **(foot or {})}
    return json.dumps(whole, separators=(",", ":"))


def save(folder: Path, text: str | bytes, name: str = "trace.json") -> Path:
    """Write it, as gzip where the name ends so."""
    data = text.encode() if isinstance(text, str) else text
    path = folder / name
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    return path
