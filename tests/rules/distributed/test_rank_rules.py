"""Rules over several ranks: causes, and where they must be silent."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.distributed.exposed_collective import ExposedCollective
from gpuprof.rules.distributed.rank_straggler import RankStraggler
from gpuprof.rules.distributed.uneven_device_memory import UnevenDeviceMemory
from tests.rules.cases.distributed import uneven_device_memory
from tests.rules.cases.distributed.rank_straggler import rank
from tests.support.trace_builder import TraceBuilder


@pytest.mark.parametrize(
    ("late", "cause"),
    [
        ({"wait_us": 2_000}, "DataLoader"),
        ({"compute_us": 2_000}, "computes longer, most of it in `gemm`"),
        ({}, "look at what its CPU does"),
        ({"wait_us": 800}, "look at what its CPU does"),
    ],
    ids=["data", "compute", "nothing recorded", "a smaller part is data"],
)
def test_why_a_rank_is_late(late: dict[str, Any], cause: str) -> None:
    found = RankStraggler().check(Results(rank(0), (rank(1), rank(2, 2_000, **late))))
    assert isinstance(found, Finding)
    assert found.evidence["rank"] == 2
    assert cause in found.change


@pytest.mark.parametrize(
    "traces",
    [(rank(0, 2_000), rank(1, 2_000), rank(2)), (rank(0), rank(1), rank(2))],
    ids=["two late ranks", "nobody waits"],
)
def test_silent_where_no_one_rank_is_to_blame(traces: Any) -> None:
    assert RankStraggler().check(Results(traces[0], traces[1:])) is None


def test_abstains_where_the_ranks_recorded_different_collectives() -> None:
    answer = RankStraggler().check(Results(rank(0), (rank(1, 2_000, collectives=5), rank(2))))
    assert isinstance(answer, Abstention)
    assert "matched between ranks" in answer.needs


@pytest.mark.parametrize(
    ("own", "others", "title", "said"),
    [
        (rank(0), (rank(1),), "Exposed communication: 30 %", "21.0 ms is transfer and 0 ns is waiting"),
        (rank(1, 2_000), (rank(0),), "Exposed communication: 10 %", "7.00 ms is transfer and 0 ns is waiting"),
        (rank(0), (rank(1, 1_500),), "Exposed communication: 15 %", "10.5 ms of it for rank 1."),
        (rank(0), (rank(1, 900),), "Exposed communication: 21 %", "6.30 ms of it for rank 1."),
        (rank(0), (rank(1, 2_700),), "", ""),
        (rank(0), (rank(1, steps=3),), "Exposed communication: 30 %", "4 exchanges could not be compared"),
        (rank(0, collectives=5), (rank(1),), "Exposed communication: 30 %", "do not show either"),
    ],
    ids=[
        "both alike",
        "it is the late one",
        "half is a wait",
        "not yet a straggler",
        "nearly all is a wait",
        "cut off",
        "different",
    ],
)
def test_exposed_communication_is_divided(own: Trace, others: Any, title: str, said: str) -> None:
    """GIVEN 3 ms of every step in a collective THEN the wait for a straggler is not counted there as well."""
    found = ExposedCollective().check(Results(own, others))
    if not title:
        assert found is None
        return
    assert isinstance(found, Finding) and found.saving is not None
    assert found.title.startswith(title) and said in found.explanation


def test_waits_for_changing_ranks_are_a_finding_of_their_own() -> None:
    """GIVEN ranks that are late in turns THEN nobody is a straggler, and the advice is to balance."""
    traces = [turns(number) for number in range(3)]
    results = Results(traces[0], traces[1:])
    assert RankStraggler().check(results) is None
    found = ExposedCollective().check(results)
    assert isinstance(found, Finding) and found.saving is not None
    assert found.title.startswith("Waiting for other ranks: 17 %")
    assert "equal numbers of samples" in found.change and "divided more evenly" in found.leave_it
    assert found.saving.high_ns == pytest.approx(10e6)


def turns(number: int) -> Trace:
    """Six steps of 10 ms; in each another one of three ranks comes 2.5 ms late."""
    builder = TraceBuilder().source(rank=number)
    for step in range(6):
        at, late = step * 10_000, 2_500 if step % 3 == number else 0
        builder.step(at, 10_000).kernel("gemm", at + 1_000, 5_000)
        builder.kernel("ncclDevKernel_AllReduce_Sum_f32", at + 7_000 + late, 3_000 - late, stream=9)
    return builder.build()


def test_ranks_that_were_not_loaded_are_mentioned() -> None:
    def part(number: int, size: int) -> Trace:
        builder = TraceBuilder().source(rank=number, world_size=size).step(0, 1000).kernel("gemm", 0, 100)
        return builder.kernel("ncclDevKernel_AllReduce_Sum_f32", 100, 900, stream=9).build()

    for size, said in ((2, False), (4, True)):
        found = ExposedCollective().check(Results(part(0, size), (part(1, size),)))
        assert isinstance(found, Finding)
        assert ("Not all ranks were loaded" in found.explanation) is said


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (("c10d::allreduce_",), "bucket_cap_mb"),
        (("c10d::allreduce_", "c10d::_allgather_base_"), "FSDP"),
        ((), "async_op"),
    ],
)
def test_rccl_has_one_kernel_for_everything_and_the_host_says_which(asked: tuple[str, ...], advice: str) -> None:
    builder = TraceBuilder().step(0, 1000).operator("aten::mm", 0, 5)
    builder.operator("autograd::engine::evaluate_function: AddmmBackward0", 8, 60)
    for row, name in enumerate(asked):
        builder.operator(name, 10 + 10 * row, 5)
    builder.kernel("ncclDevKernel_Generic(args)", 100, 900, launch_at_us=50)
    found = ExposedCollective().check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert advice in found.change and found.change.startswith("Compare the ranks first")


@pytest.mark.parametrize(
    ("kind", "group", "advice"),
    [
        ("AllReduce", "mesh_tp", "NVLink"),
        ("SendRecv", "pp", "micro-batches"),
        ("AllToAll", "ep", "experts"),
        ("ReduceScatter", "mesh_dp_shard", "FSDP"),
        ("AllReduce", "data_parallel", "bucket_cap_mb"),
    ],
)
def test_advice_follows_the_kind_of_parallelism(kind: str, group: str, advice: str) -> None:
    """GIVEN one rank alone, whose groups have names THEN it is told what to do, and nothing of who waits."""
    builder = TraceBuilder().step(0, 1000).call("cudaLaunchKernel", 0, 5).kernel("gemm", 0, 100)
    builder.collective(kind, 100, 900, group="3", group_description=group, group_size=4)
    found = ExposedCollective().check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert advice in found.change
    assert "One rank alone does not show" in found.explanation and "waiting_ms" not in found.evidence


def test_too_few_steps() -> None:
    answer = RankStraggler().check(Results(rank(0, steps=5), (rank(1, 2_000, steps=5),)))
    assert isinstance(answer, Abstention)
    assert "at least 6 steps" in answer.needs


def test_uneven_memory_matters_only_on_full_devices() -> None:
    of = uneven_device_memory.rank
    assert UnevenDeviceMemory().check(Results(of(0, 39), (of(1, 10),))) is None
    assert isinstance(UnevenDeviceMemory().check(Results(of(0, 40), (of(1, 10),))), Finding)
