from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind, HostMemory
from gpuprof.model.trace import Trace
from tests.support.shared import NAMES, shared_facts

DIRECTIONS = {"h2d": CopyKind.H2D, "d2h": CopyKind.D2H}
HOSTS = {"pageable": HostMemory.PAGEABLE, "pinned": HostMemory.PINNED, "unknown": HostMemory.UNKNOWN}


def _is_2021(trace: Trace) -> bool:
    return "resnet50-workers" in trace.source.path


@pytest.mark.parametrize("name", NAMES)
def test_events_and_span_are_those_of_the_facts(name: str, shared_trace: Any) -> None:
    facts, trace = shared_facts(name), shared_trace(name)
    events = len(trace.operators) + len(trace.calls) + len(trace.device_events)
    if _is_2021(trace):
        # The facts count torch's own ranges as operators, as these two files file them.
        events += len(trace.user_ranges)
    assert events == facts["events"]
    assert trace.span_ns == round(facts["span_ms"] * 1e6)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_and_copies_are_those_of_the_facts(name: str, shared_trace: Any) -> None:
    facts, trace = shared_facts(name), shared_trace(name)
    assert trace.device_ids == tuple(device["id"] for device in facts["devices"])
    for device in facts["devices"]:
        events = trace.device_events.take(trace.device_events["device"] == device["id"])
        kernels = events.take(events["kind"] == DeviceEventKind.KERNEL)
        assert len(kernels) == device["kernels"]
        assert kernels["duration_ns"].sum() / 1e6 == pytest.approx(device["kernel_ms"], abs=0.001)
        for direction, kind in DIRECTIONS.items():
            copies = events.take(events["copy"] == kind)
            expected = device[direction]
            assert len(copies) == expected["count"]
            assert copies["bytes"][copies["bytes"] > 0].sum() == expected["bytes"]
            assert copies["duration_ns"].sum() / 1e6 == pytest.approx(expected["ms"], abs=0.001)
            for word, host in HOSTS.items():
                assert (copies["host_memory"] == host).sum() == expected[word], word


@pytest.mark.parametrize("name", NAMES)
def test_waiting_calls_are_those_of_the_facts(name: str, shared_trace: Any) -> None:
    facts, trace = shared_facts(name), shared_trace(name)
    calls = trace.calls
    for call_name, (count, ms) in facts["sync"].items():
        rows = calls.take(trace.names_of(calls) == call_name)
        assert len(rows) == count
        assert (rows["kind"] == CallKind.SYNCHRONIZE).all()
        assert rows["duration_ns"].sum() / 1e6 == pytest.approx(ms, abs=0.001)


def test_every_link_holds(any_shared_trace: Trace) -> None:
    trace = any_shared_trace
    operators, calls, events = trace.operators, trace.calls, trace.device_events
    ends = operators["start_ns"] + operators["duration_ns"]
    child = np.flatnonzero(operators["parent"] >= 0)
    parent = operators["parent"][child]
    assert (operators["thread"][child] == operators["thread"][parent]).all()
    assert (operators["start_ns"][child] >= operators["start_ns"][parent]).all()
    assert (operators["start_ns"][child] < ends[parent]).all()
    assert (operators["depth"][child] == operators["depth"][parent] + 1).all()
    inside = np.flatnonzero(calls["operator"] >= 0)
    assert (ends[calls["operator"][inside]] > calls["start_ns"][inside]).all()
    launched = np.flatnonzero(events["call"] >= 0)
    assert (calls["correlation"][events["call"][launched]] == events["correlation"][launched]).all()
    for table in (operators, calls, events, trace.user_ranges, trace.frames):
        assert (np.diff(table["start_ns"]) >= 0).all()
        assert table["step"].max(initial=-1) < len(trace.steps)


@pytest.mark.parametrize(
    ("name", "steps", "source"),
    [
        ("v100-ddp-memory-nccl", 5, "ProfilerStep"),
        ("v100-resnet50-workers0", 6, "ProfilerStep"),
        ("h100-owlv2-dataloader-stacks", 1, "ProfilerStep"),
        ("mi300x-ddp-resnet18", 4, "Optimizer"),
        ("a100-sam-many-syncs", 0, None),
    ],
)
def test_steps(name: str, steps: int, source: str | None, shared_trace: Any) -> None:
    trace = shared_trace(name)
    assert (len(trace.steps), trace.steps_from) == (steps, source)


def test_what_a_file_says_of_itself(shared_trace: Any) -> None:
    rocm, cuda = shared_trace("mi300x-qwen-rocm"), shared_trace("a100-ddp-rank3-healthy")
    assert (rocm.source.platform, cuda.source.platform) == ("rocm", "cuda")
    assert (rocm.source.rank, cuda.source.rank) == (None, 3)
    assert rocm.source.torch == "2.7.0+gitf717b2a"
    device = cuda.device(3)
    assert (device.name, device.compute_capability, device.multiprocessors) == ("NVIDIA A100-PG509-200", (8, 0), 108)
    assert rocm.device(2).name is None  # the file describes device 0 only


def test_memory_rows_and_collectives(shared_trace: Any) -> None:
    trace = shared_trace("v100-ddp-memory-nccl")
    assert trace.device_events["collective"].sum() == 2020
    assert trace.memory["reserved_bytes"].max() > 12 * 10**9


@pytest.mark.parametrize(
    ("name", "recorded"), [("no-gpu-activity", None), ("cpu-only-rank34", None), ("a100-copies-pinned", True)]
)
def test_whether_a_device_was_recorded(name: str, recorded: bool | None, shared_trace: Any) -> None:
    assert shared_trace(name).device_recorded is recorded
