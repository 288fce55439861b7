from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.peak_lines import PeakLines
from tests.support.trace_builder import TraceBuilder

MIB = 1 << 20


def of(builder: TraceBuilder) -> PeakLines:
    return Results(builder.operator("aten::mm", 0, 100).build()).get(PeakLines)


def test_what_was_released_by_the_peak_does_not_count() -> None:
    builder = TraceBuilder().line(3, 0).memory(10, MIB, allocated=MIB, address=1)
    builder.line(4, 20).memory(30, 2 * MIB, allocated=3 * MIB, address=2)
    builder.line(5, 40).memory(50, -2 * MIB, allocated=MIB, address=2)
    builder.memory(60, 3 * MIB, allocated=4 * MIB, address=2)
    builder.line(6, 70).memory(80, MIB // 2, allocated=MIB, address=3)
    assert of(builder).of_device(0) == (3, 5)


def test_the_host_has_lines_of_its_own() -> None:
    builder = TraceBuilder().line(3, 0).memory(10, MIB, device=None, address=1)
    found = of(builder)
    assert found.of_device(None) == (3,) and found.of_device(0) == ()


def test_nothing_is_named_without_addresses_or_lines() -> None:
    assert of(TraceBuilder().line(3, 0).memory(10, MIB, allocated=MIB)).of_device(0) == ()
    assert of(TraceBuilder().memory(10, MIB, allocated=MIB, address=1)).by_device == {}
