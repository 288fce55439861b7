"""What is said of copies within the device, with ranks that share gradients and without."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.support.trace_builder import TraceBuilder


def copying(*, ddp: bool) -> TraceBuilder:
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000)
        builder.operator("CompiledFunction", at, 40).operator("aten::clone", at + 12, 20)
        builder.kernel("gemm", at + 50, 490, launch_at_us=at + 2).copy("d2d", at + 545, 100, launch_at_us=at + 15)
        if ddp:
            builder.operator("DistributedDataParallel.forward", at + 45, 300).collective("AllReduce", at + 650, 100)
    return builder


@pytest.mark.parametrize("ddp", [False, True])
def test_gradients_as_views_are_for_ddp_and_the_caller_is_named(ddp: bool) -> None:
    found = rule("copies_within_device").check(Results(copying(ddp=ddp).build()))
    assert isinstance(found, Finding)
    assert ("gradient_as_bucket_view=True" in found.change) is ddp
    assert "aten::clone (1.00 ms, mostly in CompiledFunction)" in found.explanation
