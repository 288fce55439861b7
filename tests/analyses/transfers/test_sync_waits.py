"""Host calls that wait for the device."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.sync_waits import SyncKind, SyncWaits
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.support.shared import NAMES, shared_facts
from tests.support.trace_builder import TraceBuilder


def waits(trace: Trace) -> SyncWaits:
    return Results(trace).get(SyncWaits)


def operator_names(trace: Trace) -> list[str | None]:
    return [trace.names[name] if name >= 0 else None for name in waits(trace).table["operator_name"]]


def test_an_item_is_implicit_and_named_by_what_the_user_wrote():
    builder = TraceBuilder().operator("aten::item", 0, 40).operator("aten::_local_scalar_dense", 1, 38)
    trace = builder.sync(5, 30).build()
    assert operator_names(trace) == ["aten::item"]
    assert waits(trace).table["kind"].tolist() == [SyncKind.IMPLICIT]
    assert waits(trace).total_ns == 30_000


def test_autograds_wrapper_is_looked_through():
    builder = TraceBuilder().operator("autograd::engine::evaluate_function: IndexBackward0", 0, 60)
    builder.operator("IndexBackward0", 1, 50).operator("aten::nonzero", 2, 40).sync(5, 30)
    assert operator_names(builder.build()) == ["aten::nonzero"]


def test_a_users_range_among_the_operators_is_looked_through_and_else_kept():
    inside = TraceBuilder().operator("forward", 0, 60).operator("aten::item", 2, 40).sync(5, 30)
    alone = TraceBuilder().operator("train", 0, 60).operator("forward", 1, 50).sync(5, 30)
    assert operator_names(inside.build()) == ["aten::item"]
    assert operator_names(alone.build()) == ["train"]


def test_a_synchronise_of_the_users_own_is_explicit():
    trace = TraceBuilder().sync(0, 30, "cudaDeviceSynchronize").build()
    assert waits(trace).table["kind"].tolist() == [SyncKind.EXPLICIT]
    assert operator_names(trace) == [None]


def test_idle_after_is_the_time_until_the_device_works_again():
    builder = TraceBuilder().kernel("a", 0, 40).sync(10, 32).kernel("b", 70, 20).sync(75, 5).sync(85, 10)
    assert waits(builder.build()).table["idle_after_ns"].tolist() == [28_000, 0, 0]


def test_copies_that_block_are_waits_and_those_that_do_not_are_none():
    builder = TraceBuilder()
    for at in (0, 100, 200):
        builder.copy("h2d", at + 8, 30, launch_at_us=at, launch_for_us=4)
    # a pageable copy that first waits for the stream; its call returns shortly before the copy's end
    builder.copy("h2d", 340, 32, launch_at_us=300, launch_for_us=70, host_memory="pageable")
    builder.copy("d2h", 405, 4, launch_at_us=400, launch_for_us=12, launch="hipMemcpyWithStream")
    assert waits(builder.build()).table["start_ns"].tolist() == [300_000, 400_000]


def test_a_run_in_which_every_copy_blocks_is_seen():
    builder = TraceBuilder()
    for at in (0, 1000, 2000):
        builder.copy("h2d", at + 10, 800, launch_at_us=at, launch_for_us=900)
    assert waits(builder.build()).count == 3


def test_watchdog_threads_are_left_out():
    builder = TraceBuilder().kernel("a", 8, 10, launch_at_us=0).thread("autograd").kernel("b", 30, 5, launch_at_us=20)
    builder.sync(40, 5).thread("watchdog").sync(0, 90, "cudaEventSynchronize")
    assert waits(builder.build()).table["start_ns"].tolist() == [40_000]


def test_per_step_counts_only_waits_inside_steps():
    builder = TraceBuilder().step(0, 100).step(100, 100).sync(10, 5).sync(20, 5).sync(110, 10).sync(300, 50)
    found = waits(builder.build())
    assert (found.count, found.per_step) == (4, 1.5)
    assert waits(TraceBuilder().sync(0, 5).build()).per_step is None


@given(runs())
def test_no_run_breaks_it(trace: Trace):
    assert waits(trace).count == len(waits(trace).table)


@pytest.mark.parametrize("name", NAMES)
def test_finds_every_recorded_synchronise(shared_trace: Any, name: str):
    trace, facts = shared_trace(name), shared_facts(name)
    table = waits(trace).table
    called = trace.names_of(table)
    for sync, (count, ms) in facts["sync"].items():
        rows = called == sync
        assert int(rows.sum()) == count
        assert table["duration_ns"][rows].sum() / 1e6 == pytest.approx(ms, abs=2e-3)
