"""The builder makes the Trace it is told to make."""

from __future__ import annotations

import numpy as np

from gpuprof.model.kinds import CallKind, CopyKind, DeviceEventKind, HostMemory, MemoryDevice
from tests.support.trace_builder import TraceBuilder


def test_links_kernel_to_launch_operator_and_step():
    trace = (
        TraceBuilder()
        .step(0, 100)
        .operator("aten::linear", 0, 40)
        .operator("aten::mm", 5, 20)
        .kernel("sgemm", 30, 200, launch_at_us=10)
        .kernel("lost", 240, 1)
        .build()
    )
    operators, calls, events = trace.operators, trace.calls, trace.device_events
    assert operators["parent"].tolist() == [-1, 0]
    assert operators["depth"].tolist() == [0, 1]
    assert calls["kind"].tolist() == [CallKind.KERNEL]
    assert trace.names_of(operators.take(calls["operator"])).tolist() == ["aten::mm"]
    assert events["call"].tolist() == [0, -1]
    assert events["operator"].tolist() == [1, -1]
    assert events["step"].tolist() == [0, -1]
    assert (trace.span_start_ns, trace.span_end_ns) == (0, 241_000)
    assert trace.device_recorded is True
    assert trace.steps_from == "ProfilerStep"


def test_copies_carry_direction_memory_and_bytes():
    trace = TraceBuilder().copy("h2d", 10, 5, bytes=64, host_memory="pageable", launch_at_us=0).memset(20, 1).build()
    events = trace.device_events
    assert events["kind"].tolist() == [DeviceEventKind.COPY, DeviceEventKind.MEMSET]
    assert events["copy"].tolist() == [CopyKind.H2D, CopyKind.NONE]
    assert events["host_memory"].tolist() == [HostMemory.PAGEABLE, HostMemory.NONE]
    assert events["bytes"].tolist() == [64, 1024]
    assert trace.calls["kind"].tolist() == [CallKind.COPY]


def test_one_graph_launch_shares_its_correlation():
    builder = TraceBuilder().call("cudaGraphLaunch", 0, 8, correlation=77)
    trace = builder.kernel("a", 10, 5, correlation=77).kernel("b", 16, 5, correlation=77).build()
    assert trace.device_events["call"].tolist() == [0, 0]


def test_threads_memory_and_samples():
    trace = (
        TraceBuilder()
        .thread("main")
        .operator("aten::add", 0, 10)
        .thread("autograd")
        .operator("AddBackward0", 2, 10)
        .memory(9, -512)
        .memory(3, 512, allocated=512, reserved=2048)
        .memory(4, 64, device=None)
        .sample(5, temperature_c=71)
        .host_sample(5, cpu_percent=100)
        .build()
    )
    assert trace.main_thread == 0
    assert trace.operators["thread"].tolist() == [0, 1]
    assert trace.memory["time_ns"].tolist() == [3_000, 4_000, 9_000]
    assert trace.memory["device_type"].tolist() == [MemoryDevice.CUDA, MemoryDevice.CPU, MemoryDevice.CUDA]
    assert trace.device_readings["temperature_c"].tolist() == [71]
    assert np.isnan(trace.device_readings["power_mw"]).tolist() == [False]
    assert trace.device_readings["power_mw"].tolist() == [-1]
    assert trace.host_readings["cpu_percent"].tolist() == [100]
    assert trace.device_recorded is None


def test_empty_build_and_launches_without_device_events():
    assert TraceBuilder().build().span_ns == 0
    assert TraceBuilder().build().main_thread == -1
    assert TraceBuilder().call("cudaLaunchKernel", 0, 5).build().device_recorded is False


def test_context_source_and_device():
    trace = TraceBuilder().context(run_id="r1").source(platform="cuda").device(0, "V100", multiprocessors=80).build()
    assert trace.context.run_id == "r1"
    assert trace.source.platform == "cuda"
    assert trace.device(0).multiprocessors == 80
