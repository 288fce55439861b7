"""The generations of the format, in small: for a clone without the shared traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gpuprof.ingest.load import load_trace
from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind, HostMemory, MemoryDevice
from tests.ingest.kineto_text import call, compact, kernel, operator, save, span

NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def _event(cat: str | None, name: str, ts: int, dur: int, pid: Any, tid: Any, **args: Any) -> dict[str, Any]:
    event = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
    return {key: value for key, value in event.items() if value is not None}


def test_2021(tmp_path: Path) -> None:
    memory = _event(None, "[memory]", 9, 0, 8, 8, Bytes=-64, **{"Device Type": 1, "Device Id": 0}) | {"ph": "i"}
    events = [
        _event("Operator", "ProfilerStep#2", 0, 90, 8, "8", **{"External id": 1}),
        _event("Operator", NEXT, 1, 5, 8, "8"),
        _event("Operator", "aten::copy_", 10, 30, 8, "8", **{"External id": 3, "Input dims": [[4]]}),
        _event("Runtime", "cudaMemcpyAsync", 12, 20, 8, "8", correlation=77, **{"external id": 3}),
        _event("Memcpy", "Memcpy HtoD (Pageable -> Device)", 14, 16, 0, "stream 7", correlation=77, bytes=4096),
        _event("Kernel", "orphan", 50, 5, 0, "stream 7", correlation=99, **{"external id": 3}),
        _event("Memset", "Memset (Device)", 60, 1, 0, "stream 7", correlation=98, **{"external id": 98}),
        memory,
    ]
    trace = load_trace(save(tmp_path, compact(events)))
    assert len(trace.threads) == 1
    assert sorted(trace.names_of(trace.user_ranges)) == ["ProfilerStep#2", NEXT]
    assert trace.names_of(trace.operators).tolist() == ["aten::copy_"]
    assert trace.names[trace.operators["input_dims"][0]] == "[[4]]"
    events_table = trace.device_events
    assert events_table["kind"].tolist() == [DeviceEventKind.COPY, DeviceEventKind.KERNEL, DeviceEventKind.MEMSET]
    assert events_table["stream"].tolist() == [7, 7, 7]
    assert events_table["copy"].tolist() == [CopyKind.H2D, CopyKind.NONE, CopyKind.NONE]
    assert events_table["host_memory"][0] == HostMemory.PAGEABLE
    # the kernel names its operator; the memset's id only repeats its correlation
    assert events_table["operator"].tolist() == [0, 0, -1]
    assert events_table["call"].tolist() == [0, -1, -1]
    assert trace.memory["bytes"].tolist() == [-64]
    assert trace.memory["device_type"].tolist() == [MemoryDevice.CUDA]
    assert trace.source.platform == "cuda"


@pytest.mark.parametrize(
    "name", ["aten::select", "aten::embedding_dense_backward", "aten::_embedding_bag_dense_backward"]
)
def test_the_numbers_of_slices_and_tables_are_read_and_no_others(tmp_path: Path, name: str) -> None:
    given: dict[str, Any] = {"Input Dims": [[4, 2], [], []], "Concrete Inputs": ["", "1", "0"]}
    events = [operator(name, 0, 5, args=given), operator("aten::as_strided", 1, 2, args=given)]
    trace = load_trace(save(tmp_path, compact(events)))
    values = trace.operators["input_values"]
    assert (trace.names[values[0]], values[1]) == ('["", "1", "0"]', -1)


def test_steps_shown_again_on_the_device_count_once(tmp_path: Path) -> None:
    again = _event("gpu_user_annotation", "ProfilerStep#3", 20, 70, 0, 7)
    trace = load_trace(save(tmp_path, compact([span("ProfilerStep#3", 0, 90), again, operator("aten::mm", 1, 2)])))
    assert len(trace.steps) == 1
    assert len(trace.user_ranges) == 1


def test_rocm(tmp_path: Path) -> None:
    events = [
        operator("aten::to", 0, 50, args={"External id": 4}),
        call("hipMemcpyWithStream", 5, 30, 9, args={"size": "4096"}),
        _event("gpu_memcpy", "Memcpy HtoD (Host -> Device)", 6, 20, 2, 0, device="2", stream="0", correlation="9"),
        kernel("Cijk_Alik", 40, 5, 10, device=2, stream=0, **{"External id": 4}),
    ]
    properties = [{"id": 0, "name": "", "totalGlobalMem": 10**11, "computeMajor": 9, "computeMinor": 4}]
    trace = load_trace(save(tmp_path, compact(events, {"deviceProperties": properties})))
    assert trace.source.platform == "rocm"
    assert trace.device_ids == (2,)
    assert trace.device_events["call"].tolist() == [0, -1]
    assert trace.device_events["operator"].tolist() == [0, 0]
    assert trace.device_events["host_memory"][0] == HostMemory.UNKNOWN
    assert trace.device_events["bytes"].tolist() == [-1, -1]
    assert trace.devices[0].name is None
    assert trace.calls["kind"].tolist() == [CallKind.COPY]


def test_versions_ranks_and_devices_as_the_file_says(tmp_path: Path) -> None:
    head = {
        "schemaVersion": 1,
        "distributedInfo": {"rank": "3"},
        "metadata": {"packages": ["numpy==2.4", "torch==2.6.0+cu124"]},
        "hip_runtime_version": 60443483,
        "deviceProperties": [{"id": 5, "name": "X", "numSms": 80, "maxThreadsPerMultiprocessor": 2048}, None],
    }
    trace = load_trace(save(tmp_path, compact([operator("aten::mm", 0, 1)], head)))
    assert (trace.source.rank, trace.source.torch, trace.source.platform) == (3, "2.6.0+cu124", "rocm")
    assert (trace.device(5).multiprocessors, trace.device(5).max_threads_per_multiprocessor) == (80, 2048)
    assert trace.device(5).compute_capability is None
    odd = load_trace(
        save(tmp_path, compact([operator("aten::mm", 0, 1)], {"deviceProperties": 7, "distributedInfo": []}))
    )
    assert (odd.devices, odd.source.rank) == ((), None)


def test_synchronisations_by_cupti(tmp_path: Path) -> None:
    waiting = {"wait_on_stream": 20, "wait_on_cuda_event_record_corr_id": 5, "correlation": 6, "device": 0, "stream": 7}
    events = [
        operator("aten::mm", 0, 50),
        call("cudaStreamWaitEvent", 5, 3, 6),
        _event("cuda_sync", "Stream Wait Event", 6, 2, 0, 7, **waiting),
        _event("cuda_sync", "Context Sync", 9, 2, 0, -1, correlation=8, device=0, stream=-1, wait_on_stream=-1),
    ]
    trace = load_trace(save(tmp_path, compact(events)))
    assert trace.syncs["call"].tolist() == [0, -1]
    assert trace.syncs["stream"].tolist() == [20, -1]
    assert trace.syncs["awaited_correlation"].tolist() == [5, -1]
    assert trace.calls["kind"].tolist() == [CallKind.EVENT_WAIT]


def test_frames_nest_as_they_were_called(tmp_path: Path) -> None:
    frames = [
        _event("python_function", name, ts, dur, 10, 10, **{"Python id": 1, "Python parent id": None})
        for name, ts, dur in (("<module>", 0, 90), ("train.py(3): step", 5, 50), ("torch/nn.py(9): forward", 6, 20))
    ]
    trace = load_trace(save(tmp_path, compact([*frames, operator("aten::mm", 7, 2)])))
    assert trace.frames["parent"].tolist() == [-1, 0, 1]
    assert trace.source.stacks
