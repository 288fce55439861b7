"""One event of each kind, to the last column: with nothing but its times, and with all that Kineto writes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.ingest.looked import _moved
from gpuprof.ingest.rows import EventRows
from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind, HostMemory, MemoryDevice
from gpuprof.model.trace import Trace

HOST = {"start_ns": 100_000, "duration_ns": 5_000, "thread": 0}
ON_DEVICE = {
    "start_ns": 100_000, "duration_ns": 5_000, "correlation": -1, "call": -1, "operator": -1, "step": -1,
    "copy": CopyKind.NONE, "host_memory": HostMemory.NONE, "bytes": -1, "collective": False, "blocks": -1,
    "block_threads": -1, "occupancy_percent": None, "device": 10, "stream": 11,
}  # fmt: skip


def loaded(tmp_path: Path, *events: dict[str, Any]) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return load_trace(path)


def event(category: str, name: str, **args: Any) -> dict[str, Any]:
    facts = {"args": args} if args else {}
    return {"ph": "X", "cat": category, "name": name, "pid": 10, "tid": 11, "ts": 100, "dur": 5, **facts}


def instant(**args: Any) -> dict[str, Any]:
    place = {"pid": 10, "tid": 11, "ts": 100, "s": "t"}
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", **place, **({"args": args} if args else {})}


def row(trace: Trace, table: str) -> dict[str, Any]:
    """The only row, with names in words and what is not a number as None."""
    rows = trace.tables[table]
    assert len(rows) == 1
    found = {column.name: rows[column.name][0].item() for column in rows.schema.columns}
    for name in ("name", "input_dims", "input_types", "input_values"):
        if found.get(name, -1) >= 0:
            found[name] = trace.names[found[name]]
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in found.items()
    }  # fmt: skip


BARE = [
    (
        event("cpu_op", "aten::mm"),
        "operators",
        HOST | {
            "name": "aten::mm", "external_id": -1, "sequence": -1, "forward_thread": -1, "parent": -1,
            "depth": 0, "step": -1, "input_dims": -1, "input_types": -1, "input_values": -1,
        },
    ),
    (event("user_annotation", "loop"), "user_ranges", HOST | {"name": "loop", "step": -1}),
    (
        event("cuda_runtime", "cudaLaunchKernel"),
        "calls",
        HOST | {"name": "cudaLaunchKernel", "kind": CallKind.KERNEL, "correlation": -1, "operator": -1, "step": -1},
    ),
    (event("kernel", "gemm"), "device_events", ON_DEVICE | {"name": "gemm", "kind": DeviceEventKind.KERNEL}),
    (
        event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)"),
        "device_events",
        ON_DEVICE | {
            "name": "Memcpy DtoH (Device -> Pinned)", "kind": DeviceEventKind.COPY, "copy": CopyKind.D2H,
            "host_memory": HostMemory.PINNED,
        },
    ),
    (
        event("gpu_memset", "Memset (Device)"),
        "device_events",
        ON_DEVICE | {"name": "Memset (Device)", "kind": DeviceEventKind.MEMSET},
    ),
    (event("python_function", "a.py(1): f"), "frames", HOST | {"name": "a.py(1): f", "parent": -1, "step": -1}),
    (
        event("cuda_sync", "Stream Wait Event"),
        "syncs",
        {
            "start_ns": 100_000, "duration_ns": 5_000, "name": "Stream Wait Event", "device": -1, "stream": -1,
            "correlation": -1, "call": -1, "awaited_correlation": -1,
        },
    ),
    (
        instant(),
        "memory",
        {
            "time_ns": 100_000, "thread": 0, "bytes": 0, "device_type": MemoryDevice.CPU, "device": -1, "address": -1,
            "allocated_bytes": -1, "reserved_bytes": -1,
        },
    ),
]  # fmt: skip
FULL = [
    (
        event(
            "cpu_op", "aten::mm", **{
                "External id": 7, "Sequence number": 3, "Fwd thread id": 2,
                "Input Dims": [[2, 3], []], "Input type": ["float", ""], "Concrete Inputs": ["", "1"],
            },
        ),
        "operators",
        {
            "external_id": 7, "sequence": 3, "forward_thread": 2, "input_dims": "[[2, 3], []]",
            "input_types": '["float", ""]', "input_values": -1,
        },
    ),
    (
        event("cpu_op", "aten::select", **{"external id": 8, "Input dims": [[4]], "Concrete Inputs": ["", "1"]}),
        "operators",
        {"external_id": 8, "input_dims": "[[4]]", "input_values": '["", "1"]'},
    ),
    (event("cuda_runtime", "cudaMemcpyAsync", correlation=9), "calls", {"correlation": 9, "kind": CallKind.COPY}),
    (
        event(
            "kernel", "ncclDevKernel_AllReduce", device=2, stream=20, correlation=9, grid=[4, 2, 3], block=[8, 4, 2],
            **{"est. achieved occupancy %": 40},
        ),
        "device_events",
        {
            "device": 2, "stream": 20, "correlation": 9, "blocks": 24, "block_threads": 64, "occupancy_percent": 40.0,
            "collective": True,
        },
    ),
    (
        event("kernel", "tiny", device=0, stream=7, **{"est. achieved occupancy %": 0, "warps per SM": 0.3}),
        "device_events",
        {"device": 0, "stream": 7, "occupancy_percent": 0.0},
    ),
    (
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", device=0, stream=7, bytes=512),
        "device_events",
        {"device": 0, "stream": 7, "bytes": 512, "copy": CopyKind.H2D, "host_memory": HostMemory.PAGEABLE},
    ),
    (
        event("cuda_sync", "Wait", device=1, stream=20, correlation=5, wait_on_cuda_event_record_corr_id=4),
        "syncs",
        {"device": 1, "stream": 20, "correlation": 5, "awaited_correlation": 4},
    ),
    (
        instant(**{
            "Addr": 99, "Bytes": -512, "Device Id": 1, "Device Type": 1, "Total Allocated": 1024,
            "Total Reserved": 2048,
        }),
        "memory",
        {
            "bytes": -512, "device_type": MemoryDevice.CUDA, "device": 1, "address": 99, "allocated_bytes": 1024,
            "reserved_bytes": 2048,
        },
    ),
]  # fmt: skip


@pytest.mark.parametrize(("bare", "table", "expected"), BARE, ids=[each[0]["cat"] for each in BARE])
def test_an_event_of_which_nothing_is_told(
    tmp_path: Path, bare: dict[str, Any], table: str, expected: dict[str, Any]
) -> None:
    assert row(loaded(tmp_path, bare), table) == expected


@pytest.mark.parametrize("bytes_", ["?", None, [], 0.5])
def test_memory_of_which_no_amount_is_told_is_nothing(tmp_path: Path, bytes_: Any) -> None:
    assert row(loaded(tmp_path, instant(**{"Bytes": bytes_, "Device Type": 1})), "memory")["bytes"] == 0


@pytest.mark.parametrize(("full", "table", "expected"), FULL, ids=[each[0]["cat"] for each in FULL])
def test_an_event_of_which_all_is_told(
    tmp_path: Path, full: dict[str, Any], table: str, expected: dict[str, Any]
) -> None:
    found = row(loaded(tmp_path, full), table)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("ts", "dur", "start_ns", "duration_ns"),
    [
        (100.001, 0.001, 100_001, 1),
        (100.9996, 5, 101_000, 5_000),
        (0, 0, 0, 0),
        (100, -3, 100_000, 0),
        (4_398_046_511.25, 5, 4_398_046_511_250, 5_000),
    ],
)
def test_times_are_rounded_to_the_nanosecond(
    tmp_path: Path, ts: float, dur: float, start_ns: int, duration_ns: int
) -> None:
    trace = loaded(tmp_path, event("cpu_op", "aten::mm") | {"ts": ts, "dur": dur})
    assert (trace.operators["start_ns"].tolist(), trace.operators["duration_ns"].tolist()) == (
        [start_ns], [duration_ns],
    )  # fmt: skip


@pytest.mark.parametrize(("warps", "known"), [(2.37, False), (1.0, False), (0.3, True), (None, True)])
def test_no_occupancy_in_spite_of_many_warps_is_not_known(tmp_path: Path, warps: float | None, known: bool) -> None:
    given = {"est. achieved occupancy %": 0, **({} if warps is None else {"warps per SM": warps})}
    trace = loaded(tmp_path, event("kernel", "cutlass", device=0, stream=7, **given))
    (percent,) = trace.device_events["occupancy_percent"].tolist()
    assert percent == 0 if known else percent != percent


def test_a_file_without_rows_has_no_operator_ids() -> None:
    tables, names, external_ids = EventRows().tables()
    assert {len(each) for each in tables.values()} == {0} and names == []
    assert external_ids.shape == (0,) and external_ids.dtype == np.int64


def test_numbers_of_names_that_are_not_there_name_nothing() -> None:
    assert _moved(np.array([-1, 0, 2, 3, 9]), np.array([5, 6, 7])).tolist() == [-1, 5, 7, -1, -1]
