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
        ({"compute_us": 2_000}, "computes longer"),
        ({}, "what its host does"),
        ({"wait_us": 800}, "what its host does"),
    ],
    ids=["data", "compute", "host", "a smaller part is data"],
)
def test_why_a_rank_is_late(late: dict[str, Any], cause: str) -> None:
    found = RankStraggler().check(Results(rank(0), (rank(1), rank(2, 2_000, **late))))
    assert isinstance(found, Finding)
    assert found.evidence["rank"] == 2
    assert cause in found.change


@pytest.mark.parametrize(
    "traces",
    [
        (rank(0, 2_000), rank(1, 2_000), rank(2)),
        (rank(0), rank(1, 2_000, collectives=2), rank(2)),
    ],
    ids=["two late ranks", "ranks of different groups"],
)
def test_silent_where_no_one_rank_is_to_blame(traces: Any) -> None:
    assert RankStraggler().check(Results(traces[0], traces[1:])) is None


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        (rank(0), rank(1), "No other rank waits less"),
        (rank(0), rank(1, 1_500), "At least 1.50 ms a step of it is a wait for rank 1."),
        (rank(0), rank(1, 2_700), None),
    ],
    ids=["both alike", "half is a wait", "nearly all is a wait"],
)
def test_what_is_left_of_exposed_collectives(own: Trace, other: Trace, said: str | None) -> None:
    """GIVEN 3 ms of every step in a collective THEN the wait for a late rank is not counted there as well."""
    found = ExposedCollective().check(Results(own, (other,)))
    if said is None:
        assert found is None
        return
    assert isinstance(found, Finding) and found.saving is not None
    assert said in found.explanation
    assert found.saving.high_ns == pytest.approx(7 * (3e6 - (1.5e6 if "1.50" in said else 0)))


def test_ranks_that_do_not_tell_whether_it_waits() -> None:
    """GIVEN other ranks with one step only THEN it is not said that they are missing, but that they do not tell."""
    found = ExposedCollective().check(Results(rank(0, steps=1), (rank(1, steps=1),)))
    assert isinstance(found, Finding)
    assert "One rank alone" not in found.explanation and "the other ranks do not show either" in found.explanation
    assert found.change.startswith("Record the same six steps or more on every rank")


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
    for row, name in enumerate(asked):
        builder.operator(name, 10 + 10 * row, 5)
    builder.kernel("ncclDevKernel_Generic(args)", 100, 900, launch_at_us=50)
    found = ExposedCollective().check(Results(builder.build()))
    assert isinstance(found, Finding)
    assert advice in found.change


def test_too_few_steps() -> None:
    answer = RankStraggler().check(Results(rank(0, steps=5), (rank(1, 2_000, steps=5),)))
    assert isinstance(answer, Abstention)
    assert "at least 6 steps" in answer.needs


def test_uneven_memory_matters_only_on_full_devices() -> None:
    of = uneven_device_memory.rank
    assert UnevenDeviceMemory().check(Results(of(0, 39), (of(1, 10),))) is None
    assert isinstance(UnevenDeviceMemory().check(Results(of(0, 40), (of(1, 10),))), Finding)
