from __future__ import annotations

from tests.support.trace_builder import TraceBuilder


def test_names_devices_and_span() -> None:
    trace = (
        TraceBuilder(start_ns=1_000)
        .operator("aten::mm", 0, 5)
        .operator("aten::add", 6, 4)
        .kernel("gemm", 7, 3, device=3)
        .device(3, "NVIDIA A100")
        .build()
    )
    assert trace.span_ns == 10_000
    assert trace.device_ids == (3,)
    assert trace.device(3).name == "NVIDIA A100"
    assert trace.device(0).name is None
    assert trace.name_mask(trace.operators, "aten::m", "cuda").tolist() == [True, False]
    assert trace.names_of(trace.operators).tolist() == ["aten::mm", "aten::add"]
    assert trace.names_of(trace.frames).tolist() == []


def test_amd_is_known_by_name() -> None:
    trace = TraceBuilder().device(0, "AMD Instinct MI300X").device(1, "NVIDIA H100").build()
    assert [device.is_amd for device in trace.devices] == [True, False]
    assert not trace.device(2).is_amd
