"""The tensor of the largest copy to the device."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.largest_copy import LargestCopy
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_the_shape_is_that_of_the_largest_one() -> None:
    builder = TraceBuilder().operator("aten::copy_", 0, 20, dims="[[8]]", types='["float"]')
    builder.copy("h2d", 30, 5, bytes=32, launch_at_us=5)
    builder.operator("aten::copy_", 40, 20, dims="[[8, 3, 32, 32]]", types='["float"]')
    builder.copy("h2d", 70, 9, bytes=98_304, launch_at_us=45).copy("d2h", 90, 9, bytes=1 << 30)
    assert Results(builder.build()).get(LargestCopy).shape == (8, 3, 32, 32)


def test_unknown_without_copies_operators_or_shapes(empty_trace: Trace) -> None:
    assert Results(empty_trace).get(LargestCopy).shape is None
    assert Results(TraceBuilder().copy("h2d", 0, 5).build()).get(LargestCopy).shape is None
    builder = TraceBuilder().operator("aten::copy_", 0, 20).copy("h2d", 30, 5, launch_at_us=5)
    assert Results(builder.build()).get(LargestCopy).shape is None
