"""Transfer and waiting, from what each rank recorded."""

from __future__ import annotations

import json
import tarfile
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpuprof
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.ranks.late_rank import LateRank
from gpuprof.analyses.ranks.matching import ALONE, MISSING, PEERS, UNNAMED
from gpuprof.analyses.ranks.rank_collectives import RankCollectives
from gpuprof.model.collectives import CollectiveKind
from gpuprof.model.trace import Trace
from tests.analyses.ranks.rank_runs import a_rank
from tests.support.shared import shared_file
from tests.support.trace_builder import TraceBuilder

durations = st.lists(st.lists(st.integers(1, 900), min_size=2, max_size=2), min_size=2, max_size=5)


def compared(*traces: Trace) -> RankCollectives:
    return Results(traces[0], traces[1:]).get(RankCollectives)


def test_the_shortest_is_the_transfer_and_the_rest_is_waiting() -> None:
    found = compared(a_rank(0, [[300, 50]]), a_rank(1, [[100, 80]]), a_rank(2, [[250, 90]]))
    (group,) = found.groups
    assert group.transfer_ns.tolist() == [100_000, 50_000]
    assert group.waiting_ns.tolist() == [[200_000, 0, 150_000], [0, 30_000, 40_000]]
    assert group.late.tolist() == [1, 0]
    assert [found.waiting_ns(rank) for rank in found.ranks] == [200_000, 30_000, 190_000]
    assert found.own_waiting.total_ns == 200_000
    assert {rank: each.total_ns for rank, each in found.own_waiting_for.items()} == {0: 0, 1: 200_000}


@settings(deadline=None, max_examples=30)
@given(st.lists(durations, min_size=3, max_size=3), st.lists(st.integers(0, 10**15), min_size=3, max_size=3))
def test_clocks_do_not_matter(each: list[list[list[int]]], offsets: list[int]) -> None:
    """GIVEN clocks that are apart by any constant THEN nothing changes; what a rank lasts is transfer and waiting."""
    steps = min(map(len, each))
    plain = [a_rank(number, rows[:steps]) for number, rows in enumerate(each)]
    moved = [a_rank(number, rows[:steps], start_ns=offsets[number]) for number, rows in enumerate(each)]
    first, second = compared(*plain).groups[0], compared(*moved).groups[0]
    for field in ("duration_ns", "transfer_ns", "waiting_ns", "exposed_waiting_ns", "late"):
        assert np.array_equal(getattr(first, field), getattr(second, field))
    assert (first.transfer_ns[:, None] <= first.duration_ns).all()
    assert np.array_equal(first.transfer_ns[:, None] + first.waiting_ns, first.duration_ns)
    assert (first.exposed_waiting_ns <= first.waiting_ns).all() and (first.exposed_waiting_ns >= 0).all()
    rows, sums = compared(*plain).table, compared(*plain)
    for column, rank in enumerate(sums.ranks):
        assert sum(int(row.waiting_ns[column]) for row in rows) == sums.waiting_ns(rank)
        whole = sums.waiting_ns(rank) + sums.transfer_ns(rank)
        assert whole == sum(int(row.duration_ns[column]) for row in rows) == int(first.duration_ns[:, column].sum())


def test_the_order_in_which_ranks_are_loaded_does_not_matter() -> None:
    traces = [a_rank(0, [[300], [10]]), a_rank(1, [[100], [20]]), a_rank(2, [[250], [30]])]
    told = [compared(*order).groups[0].waiting_ns.tolist() for order in permutations(traces)]
    assert all(each == told[0] for each in told)


def test_compute_beside_a_wait_is_not_exposed() -> None:
    builder = TraceBuilder().source(rank=0).kernel("gemm", 0, 150).collective("AllReduce", 100, 300)
    (group,) = compared(builder.build(), a_rank(1, [[100]], steps=False)).groups
    assert group.waiting_ns.tolist() == [[200_000, 0]]
    assert group.exposed_waiting_ns.tolist() == [[150_000, 0]]


def test_steps_say_which_ones_a_cut_recording_lacks() -> None:
    """GIVEN a rank without its first step and all steps alike THEN the steps' own numbers join them."""
    found = compared(a_rank(0, [[10], [20], [30], [40]]), a_rank(1, [[15], [25], [35]], first_step=1))
    (group,) = found.groups
    assert group.duration_ns.tolist() == [[20_000, 15_000], [30_000, 25_000], [40_000, 35_000]]
    assert group.left_out == (1, 0) and group.step.tolist() == [1, 2, 3]


def test_without_steps_they_are_not_guessed() -> None:
    found = compared(a_rank(0, [[10]] * 4, steps=False), a_rank(1, [[15]] * 3, steps=False))
    assert not found.groups and found.unmatched[0].count == 7


def test_numbers_within_the_group_join_them_too() -> None:
    def numbered(rank: int, first: int, lasting: list[float]) -> Trace:
        builder = TraceBuilder().source(rank=rank)
        for place, each in enumerate(lasting):
            builder.collective("AllReduce", 1000 * place, each, number=first + place, group="0", group_size=2)
        return builder.build()

    (group,) = compared(numbered(0, 5, [10, 20, 30]), numbered(1, 6, [21, 31, 41])).groups
    assert group.duration_ns.tolist() == [[20_000, 21_000], [30_000, 31_000]]


def test_each_process_group_by_itself() -> None:
    """GIVEN two pairs of tensor-parallel ranks, and an all-reduce of all THEN each group is matched on its own."""

    def trace(rank: int, pair: list[int], pair_us: float, all_us: float) -> Trace:
        builder = TraceBuilder().source(rank=rank, world_size=4)
        name = {"group": f"tp{pair[0]}", "group_description": "mesh_tp", "group_ranks": str(pair), "group_size": 2}
        whole = {"group": "0", "group_description": "default_pg", "group_ranks": "[0, 1, 2, 3]", "group_size": 4}
        builder.collective("AllReduce", 0, pair_us, stream=9, **name)
        return builder.collective("AllReduce", 500, all_us, stream=10, **whole).build()

    found = compared(
        trace(0, [0, 1], 30, 40), trace(1, [0, 1], 20, 50), trace(2, [2, 3], 70, 60), trace(3, [2, 3], 90, 70)
    )
    told = {each.group.label: (each.ranks, each.duration_ns.tolist(), each.complete) for each in found.groups}
    assert told == {
        "mesh_tp [0, 1]": ((0, 1), [[30_000, 20_000]], True),
        "mesh_tp [2, 3]": ((2, 3), [[70_000, 90_000]], True),
        "all ranks": ((0, 1, 2, 3), [[40_000, 50_000, 60_000, 70_000]], True),
    }


def test_a_part_of_the_ranks() -> None:
    """GIVEN two of four ranks THEN they are compared, and it is known that the transfer may hold a wait."""
    about = {"group": "0", "group_ranks": "[0, 1, 2, 3]", "group_size": 4}
    (group,) = compared(a_rank(0, [[10]], **about), a_rank(3, [[15]], **about)).groups
    assert not group.complete and group.transfer_ns.tolist() == [10_000]


def test_groups_without_names_are_not_mixed() -> None:
    """GIVEN kernels without description on two streams THEN which are of one group is not known."""

    def trace(rank: int) -> Trace:
        builder = TraceBuilder().source(rank=rank)
        for stream in (8, 9):
            builder.kernel("ncclDevKernel_AllReduce_Sum_f32", stream * 100, 10, stream=stream)
        return builder.build()

    found = compared(trace(0), trace(1))
    assert [each.reason for each in found.unmatched] == [UNNAMED]


def test_a_group_that_one_of_its_ranks_did_not_record() -> None:
    about = {"group": "1", "group_ranks": "[0, 1]", "group_size": 2}
    found = compared(a_rank(0, [[10]], **about), a_rank(1, []), a_rank(2, []))
    assert [each.reason for each in found.unmatched] == [MISSING]
    alone = {"group": "1", "group_ranks": "[0, 5]", "group_size": 2}
    assert [each.reason for each in compared(a_rank(0, [[10]], **alone), a_rank(1, [])).unmatched] == [ALONE]


def test_send_and_receive_by_their_peers() -> None:
    def stage(rank: int, lasting: float, **peers: int) -> Trace:
        return TraceBuilder().source(rank=rank).collective("SendRecv", 0, lasting, group="pp", **peers).build()

    known = {"source_rank": 0, "destination_rank": 1}
    (group,) = compared(stage(0, 50, **known), stage(1, 20, **known)).groups
    assert (group.group.label, group.late.tolist()) == ("rank 0 → rank 1", [1])
    found = compared(stage(0, 50), stage(1, 20))
    assert [(each.count, each.reason) for each in found.unmatched] == [(2, PEERS)]


def test_a_root_may_go_on_so_nobody_is_named() -> None:
    (group,) = compared(a_rank(0, [[50]], kinds=("Broadcast",)), a_rank(1, [[20]], kinds=("Broadcast",))).groups
    assert group.late.tolist() == [-1] and group.waiting_ns.tolist() == [[30_000, 0]]


def test_bytes_and_bandwidth() -> None:
    """An all-reduce of 4 MB on 4 ranks in 1 ms: 1.5 × 4 MB over the bus, 6 GB/s."""
    about = {"in_elements": 1_000_000, "element_type": "Float", "group": "0", "group_size": 4}
    found = compared(*(a_rank(rank, [[1000 + rank]], **about) for rank in range(4)))
    (row,) = found.table
    assert (row.kind, row.count, row.buffer_bytes, row.bus_bytes_per_s) == (
        CollectiveKind.ALL_REDUCE,
        1,
        4_000_000,
        6e9,
    )


def test_different_sizes_do_not_correspond() -> None:
    one = a_rank(0, [[10]], in_elements=10, element_type="Float")
    assert not compared(one, a_rank(1, [[10]], in_elements=20, element_type="Float")).groups


def test_nothing_where_ranks_cannot_be_told_apart(empty_trace: Trace) -> None:
    for traces in ((empty_trace,), (a_rank(0, [[1]]), a_rank(None, [[1]])), (a_rank(1, [[1]]), a_rank(1, [[1]]))):
        assert compared(*traces).ranks == ()


@pytest.mark.recordings
def test_eight_recorded_ranks_of_dlrm(tmp_path: Path) -> None:
    """What a reader of the files sees: eight collectives on each rank, in the same order. In the four all-to-alls of
    the forward pass rank 7 lasts 7 to 10 µs and every other one longer by 100 µs and more: it comes last. In the
    backward pass the last one is rank 7, 5 or 4. The eight share one clock, which only this test uses: what corresponds
    ends within 10 µs everywhere, and the rank that came last is the one that began last."""
    with tarfile.open(shared_file("ranks/v100-dlrm-8ranks.tar.gz")) as archive:
        archive.extractall(tmp_path, filter="data")
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    lasting, ends = {}, {}
    for file in folder.iterdir():
        told = json.loads(file.read_text())
        kernels = [each for each in told["traceEvents"] if each.get("cat") == "kernel" and "nccl" in each["name"]]
        order = sorted(kernels, key=lambda each: each["ts"])
        lasting[told["distributedInfo"]["rank"]] = [each["dur"] * 1000 for each in order]
        ends[told["distributedInfo"]["rank"]] = [(each["ts"] + each["dur"]) * 1000 for each in order]
    table, ended = (np.array([each[rank] for rank in range(8)]).T for each in (lasting, ends))
    assert (ended.max(axis=1) - ended.min(axis=1) <= 10_000).all()

    results = gpuprof.load(folder).report_data.results
    found, late = results.get(RankCollectives), results.get(LateRank)
    (group,) = found.groups
    assert np.array_equal(group.duration_ns, table)
    assert np.array_equal(group.transfer_ns, table.min(axis=1))
    assert [found.ranks[column] for column in group.late] == table.argmin(axis=1).tolist() == [7, 7, 7, 7, 7, 5, 5, 4]
    assert np.array_equal(group.late, (ended - table).argmax(axis=1))
    assert [kind.value for kind in group.kinds] == ["all-to-all"] * 4 + ["all-reduce", "all-to-all"] + [
        "all-reduce"
    ] * 2
    assert group.buffer_bytes[[4, 6, 7]].tolist() == [4 * 394241, 4 * 112, 4 * 226960]
    assert found.waiting_ns(1) == int((table[:, 1] - table.min(axis=1)).sum()) == 11_119_000
    assert (late.rank, late.last, late.meetings, late.by_step) == (7, 4, 7, False)
