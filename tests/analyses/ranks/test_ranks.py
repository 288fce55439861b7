"""Several ranks side by side."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import gpuprof
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.ranks import Ranks
from gpuprof.model.trace import Trace
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder


def rank(number: int | None, *, steps: range = range(4), kernel: str = "ncclDevKernel_AllReduce_Sum_f32") -> Trace:
    builder = TraceBuilder().source(rank=number).device(memory_bytes=1000)
    for step in steps:
        at = step * 1000
        builder.step(at, 1000, number=step).data_wait(at, 100).operator("aten::stack", at, 100)
        builder.kernel("gemm", at + 100, 500).kernel(kernel, at + 500, 300, stream=9)
    return builder.memory(0, 10, allocated=600, reserved=700).build()


def ranks(*traces: Trace) -> Ranks:
    return Results(traces[0], traces[1:]).get(Ranks)


def test_every_rank_step_by_step() -> None:
    """GIVEN ranks that recorded different steps THEN those in common count, without their first."""
    found = ranks(rank(1), rank(0, steps=range(1, 6)))
    assert [each.rank for each in found.steps] == [each.rank for each in found.memory] == [0, 1]
    for each in found.steps:
        assert each.step_ns.tolist() == [1_000_000] * 2
        assert each.exposed_ns.tolist() == [200_000] * 2
        assert each.compute_ns.tolist() == [500_000] * 2
        assert each.input_wait_ns.tolist() == [100_000] * 2
        assert each.collectives.tolist() == [1, 1]
    assert [(each.peak_bytes, each.limit_bytes) for each in found.memory] == [(600, 1000)] * 2


def test_exchange_between_pairs_is_no_meeting_of_all() -> None:
    found = ranks(rank(0, kernel="ncclKernel_SendRecv_RING"), rank(1, kernel="ncclKernel_SendRecv_RING"))
    assert [each.collectives.sum() for each in found.steps] == [0, 0]


@pytest.mark.parametrize(
    "traces",
    [
        (rank(0),),
        (rank(0), rank(None)),
        (rank(1), rank(1)),
    ],
    ids=["alone", "without a number", "twice the same"],
)
def test_nothing_where_ranks_cannot_be_told_apart(traces: tuple[Trace, ...]) -> None:
    found = ranks(*traces)
    assert (found.steps, found.memory, found.any_collective) == ((), (), True)


def test_no_step_in_common() -> None:
    assert ranks(rank(0, steps=range(3)), rank(1, steps=range(3, 6))).steps == ()


@pytest.mark.recordings
def test_eight_recorded_ranks_of_one_step(tmp_path: Path) -> None:
    """One step says nothing of a straggler: both rules tell what they lack."""
    with tarfile.open(shared_file("ranks/v100-dlrm-8ranks.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    run = gpuprof.load(next(path for path in tmp_path.iterdir() if path.is_dir()))
    found = run.report_data.results.get(Ranks)
    assert [each.rank for each in found.memory] == list(range(8))
    assert found.any_collective and found.steps == ()
    said = {each.rule: each.needs for each in run.abstained}
    assert "every rank recorded" in said["rank_straggler"]
    assert "memory" in said["uneven_device_memory"]
