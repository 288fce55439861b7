"""The exchange with other devices."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.collectives import Collectives
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_those_of_the_first_device_and_the_kind_that_takes_longest_on_all() -> None:
    builder = TraceBuilder().operator("c10d::allreduce_", 0, 5).span("nccl:all_reduce", 1, 3)
    builder.operator("c10d::allreduce_", 10, 5).operator("aten::mm", 20, 5)
    builder.kernel("gemm", 30, 10).kernel("ncclKernel_AllReduce(int)", 40, 20).kernel("ncclKernel_Send(int)", 70, 5)
    builder.kernel("ncclKernel_Send(int)", 80, 90, device=1)
    found = Results(builder.build()).get(Collectives)
    assert (found.start_ns.tolist(), found.duration_ns.tolist()) == ([40_000, 70_000], [20_000, 5_000])
    assert found.event.tolist() == [1, 2]
    assert (found.longest, found.asked) == ("ncclKernel_Send", ("c10d::allreduce_", "nccl:all_reduce"))


def test_nothing_recorded_exchanges_nothing(empty_trace: Trace) -> None:
    found = Results(empty_trace).get(Collectives)
    assert (len(found.event), found.longest, found.asked) == (0, "", ())
