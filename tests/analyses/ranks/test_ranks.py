"""Several ranks side by side."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.ranks import Ranks
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def rank(number: int | None) -> Trace:
    builder = TraceBuilder().source(rank=number).device(memory_bytes=1000).operator("aten::mm", 0, 5)
    builder.kernel("gemm", 100, 500).kernel("ncclDevKernel_AllReduce_Sum_f32", 500, 300, stream=9)
    return builder.memory(0, 10, allocated=600, reserved=700).build()


def ranks(*traces: Trace) -> Ranks:
    return Results(traces[0], traces[1:]).get(Ranks)


def test_the_memory_of_every_rank() -> None:
    found = ranks(rank(1), rank(0))
    assert [(each.rank, each.peak_bytes, each.limit_bytes) for each in found.memory] == [(0, 600, 1000), (1, 600, 1000)]
    assert found.any_collective


@pytest.mark.parametrize(
    "traces",
    [(rank(0),), (rank(0), rank(None)), (rank(1), rank(1))],
    ids=["alone", "without a number", "twice the same"],
)
def test_nothing_where_ranks_cannot_be_told_apart(traces: tuple[Trace, ...]) -> None:
    found = ranks(*traces)
    assert (found.memory, found.any_collective) == ((), True)


def test_collectives_on_the_host_count(empty_trace: Trace) -> None:
    assert Results(TraceBuilder().span("gloo:all_reduce", 0, 5).build()).get(Ranks).any_collective
    assert not Results(empty_trace).get(Ranks).any_collective
