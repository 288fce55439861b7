"""Who comes last, again and again, and what it did longer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.late_rank_work import LateRankWork, SpentOn
from gpuprof.model.trace import Trace
from tests.analyses.ranks.rank_runs import a_rank
from tests.support.trace_builder import TraceBuilder


def late(*traces: Trace) -> LateRank:
    return Results(traces[0], traces[1:]).get(LateRank)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2), st.lists(st.integers(200, 900), min_size=3, max_size=6), st.integers(100, 150))
def test_a_planted_rank_is_named(planted: int, waits: list[int], own: int) -> None:
    """GIVEN one rank whose collectives are the shortest in every step but the first THEN it is named, with its lead."""
    first = [[100 if rank == (planted + 1) % 3 else 800] for rank in range(3)]
    traces = [
        a_rank(rank, [first[rank], *([own if rank == planted else wait + rank] for wait in waits)]) for rank in range(3)
    ]
    found = late(*traces)
    assert (found.rank, found.partners, found.by_step) == (planted, 2, True)
    assert found.last == found.meetings == len(waits) and found.waiting_share == 1
    lowest = min(rank for rank in range(3) if rank != planted)
    assert found.late_ns.tolist() == [(wait + lowest - own) * 1000 for wait in waits]
    assert found.round_ns.tolist() == [10_000_000] * len(waits)


def test_without_steps_every_collective_is_a_round() -> None:
    rows = [[900], [100], [100], [100]]
    other = [[100], [300], [400], [500]]
    found = late(a_rank(0, rows, steps=False), a_rank(1, other, steps=False))
    assert (found.rank, found.by_step, found.last, found.meetings) == (0, False, 3, 3)
    assert found.late_ns.tolist() == [200_000, 300_000, 400_000]


def test_the_one_that_is_waited_for_longest_of_two() -> None:
    found = late(a_rank(0, [[1], [500], [100], [100]]), a_rank(1, [[1], [200], [300], [400]]))
    assert (found.rank, found.last, found.meetings) == (0, 2, 3)
    assert found.waiting_share == pytest.approx(500 / 800)
    assert found.late_ns.tolist() == [0, 200_000, 300_000]


@pytest.mark.parametrize(
    "traces",
    [(a_rank(0, [[5]] * 3),), (a_rank(0, [[5]] * 3), a_rank(1, [[5]] * 3)), (a_rank(0, []), a_rank(1, []))],
    ids=["alone", "nobody waits", "no collective"],
)
def test_nobody(traces: Any) -> None:
    assert late(*traces).rank is None
    assert Results(traces[0], traces[1:]).get(LateRankWork).more == ()


def working(rank: int, late_us: float, **more: float) -> Trace:
    """Four steps of 10 ms; a rank that is late has something else in them."""
    builder = TraceBuilder().source(rank=rank)
    for at in range(0, 40_000, 10_000):
        builder.step(at, 10_000).operator("aten::mm", at, 500)
        if "operator" in more:
            builder.operator("aten::sort", at + 600, more["operator"])
        if "range" in more:
            builder.span("validate", at + 600, more["range"]).operator("aten::mm", at + 700, more["range"] - 200)
        builder.call("cudaStreamSynchronize", at + 5_000 + late_us, 4_900 - late_us)
        builder.kernel("gemm", at + 500, 1_000 + more.get("kernel", 0))
        builder.kernel("softmax", at + 4_000, 100)
        builder.kernel("ncclDevKernel_AllReduce_Sum_f32", at + 6_000 + late_us, 3_900 - late_us, stream=9)
    return builder.build()


@pytest.mark.parametrize(
    ("more", "place", "name"),
    [
        ({}, SpentOn.PYTHON, ""),
        ({"kernel": 2_000}, SpentOn.GPU, "gemm"),
        ({"operator": 2_000}, SpentOn.OPERATOR, "aten::sort"),
        ({"range": 2_000}, SpentOn.RANGE, "validate"),
    ],
)
def test_what_it_did_longer(more: dict[str, float], place: SpentOn, name: str) -> None:
    traces = [working(0, 0), working(1, 2_000, **more), working(2, 0)]
    results = Results(traces[0], traces[1:])
    assert results.get(LateRank).rank == 1
    found = results.get(LateRankWork).more
    chosen = next(each for each in found if each.place is place)
    assert found[0].more_ns >= 0.8 * 2e6
    if place is not SpentOn.GPU:  # while the device computes longer, Python is waiting: both are true
        assert found[0] is chosen
    assert chosen.name == name and chosen.more_ns == pytest.approx(2e6, rel=0.2)


def test_a_range_that_explains_little_of_it_is_not_named() -> None:
    traces = [working(0, 0), working(1, 2_000, operator=2_000, range=300), working(2, 0)]
    results = Results(traces[0], traces[1:])
    assert results.get(LateRank).rank == 1
    found = results.get(LateRankWork).more
    assert found[0].place is SpentOn.OPERATOR and all(each.place is not SpentOn.RANGE for each in found)
