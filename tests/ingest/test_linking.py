"""Linking against an oracle that looks at every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.ingest.linking import link, match_correlation
from gpuprof.ingest.nesting import innermost, nest, slack_ns
from gpuprof.model.kinds import CallKind
from gpuprof.model.schema import CALLS, DEVICE_EVENTS, OPERATORS, STEPS, SYNCS
from gpuprof.model.table import Table
from gpuprof.model.trace import empty_tables
from tests.support.trace_builder import TraceBuilder

SMALL = st.integers(0, 12)
ROWS = st.lists(st.tuples(SMALL, SMALL, st.integers(0, 1)), max_size=14)


def _host_rows(rows: list[tuple[int, int, int]], **more: Any) -> dict[str, Any]:
    starts, durations, threads = ([row[i] for row in rows] for i in range(3))
    return {"start_ns": starts, "duration_ns": durations, "thread": threads, **more}


def _sorted(rows: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    return sorted(rows, key=lambda row: (row[0], -row[1]))


@given(rows=ROWS, slack=st.integers(0, 2))
def test_the_parent_is_the_latest_row_around(rows: list[tuple[int, int, int]], slack: int) -> None:
    rows = _sorted(rows)
    parent, depth = nest(Table(OPERATORS, _host_rows(rows)), slack)
    for i, (start, duration, thread) in enumerate(rows):
        around = [
            j
            for j, (other, length, on) in enumerate(rows[:i])
            if on == thread and other <= start < other + length and start + duration <= other + length + slack
        ]
        assert parent[i] == (around[-1] if around else -1)
        assert depth[i] == (depth[parent[i]] + 1 if parent[i] >= 0 else 0)


@given(rows=ROWS, asked=st.lists(st.tuples(SMALL, st.integers(0, 2)), max_size=8), slack=st.integers(0, 1))
def test_the_innermost_is_the_latest_open_row(
    rows: list[tuple[int, int, int]], asked: list[tuple[int, int]], slack: int
) -> None:
    rows = _sorted(rows)
    table = Table(OPERATORS, _host_rows(rows))
    times, threads = (np.array([row[i] for row in asked], np.int64) for i in range(2))
    found = innermost(table, nest(table, slack)[0], threads, times)
    for row, (time, thread) in zip(found, asked, strict=True):
        open_rows = [j for j, (start, length, on) in enumerate(rows) if on == thread and start <= time < start + length]
        assert row == (open_rows[-1] if open_rows else -1)


CALL_ROWS = st.lists(st.tuples(SMALL, st.integers(-1, 4), st.sampled_from([0, 1, 5])), max_size=10)


@given(calls=CALL_ROWS, events=st.lists(st.tuples(SMALL, st.integers(-1, 5)), max_size=10))
def test_a_correlation_finds_the_last_launch_before_it(
    calls: list[tuple[int, int, int]], events: list[tuple[int, int]]
) -> None:
    calls = sorted(calls)
    table = Table(
        CALLS, {"start_ns": [c[0] for c in calls], "correlation": [c[1] for c in calls], "kind": [c[2] for c in calls]}
    )
    starts, ids = (np.array([event[i] for event in events], np.int64) for i in range(2))
    found = match_correlation(table, ids, starts)
    for row, (start, correlation) in zip(found, events, strict=True):
        same = [j for j, call in enumerate(calls) if call[1] == correlation and correlation > 0]
        best = [j for j in same if calls[j][2] == CallKind.KERNEL] or same
        begun = [j for j in best if calls[j][0] <= start]
        if not best:
            assert row == -1
        else:
            # Of calls with one start any is as good.
            assert calls[row][0] == calls[begun[-1] if begun else best[0]][0]
            assert row in best


@given(rows=ROWS, order=st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_the_order_of_raw_rows_does_not_matter(rows: list[tuple[int, int, int]], order: Any) -> None:
    rows = sorted(set(rows))
    shuffled = rows.copy()
    order.shuffle(shuffled)
    linked = [
        link({**empty_tables(), "operators": Table(OPERATORS, _host_rows(r)), "calls": Table(CALLS, _host_rows(r))})
        for r in (rows, shuffled)
    ]
    for name in ("operators", "calls"):
        for column in ("start_ns", "duration_ns"):
            assert linked[0][name][column].tolist() == linked[1][name][column].tolist()


def test_children_that_outlast_their_parent_by_rounding_stay_children() -> None:
    rows = [(0, 9_000, 0), (3_000, 7_000, 0), (9_000, 1_000, 0)]
    table = Table(OPERATORS, _host_rows(rows))
    assert slack_ns(table) == 1000
    assert nest(table)[0].tolist() == [-1, 0, 1]
    exact = Table(OPERATORS, _host_rows([(0, 9_001, 0), (3_000, 7_000, 0)]))
    assert nest(exact)[0].tolist() == [-1, -1]


def test_device_work_belongs_to_the_step_of_its_launch() -> None:
    trace = (
        TraceBuilder()
        .step(0, 100)
        .step(100, 100)
        .operator("aten::mm", 10, 20)
        .kernel("late", 120, 10, launch_at_us=15)
        .kernel("unlaunched", 130, 10)
        .build()
    )
    events = link(trace.tables)["device_events"]
    assert events["step"].tolist() == [0, 1]
    assert events["operator"].tolist() == [0, -1]


def test_one_graph_launch_stands_behind_all_its_kernels() -> None:
    builder = TraceBuilder().operator("forward", 0, 10).call("cudaGraphLaunch", 1, 5, correlation=9)
    for start in (20, 30, 40):
        builder.kernel("node", start, 5, correlation=9)
    events = link(builder.build().tables)["device_events"]
    assert events["call"].tolist() == [0, 0, 0]
    assert events["operator"].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("ids", "expected"), [([5, 6, -1], [1, -1, -1]), (None, [-1, -1, -1])])
def test_an_external_id_helps_where_no_launch_does(ids: list[int] | None, expected: list[int]) -> None:
    # GIVEN two operators with one id (6), which then says nothing
    operators = Table(
        OPERATORS, {"start_ns": [0, 5, 9], "duration_ns": [2, 2, 2], "thread": [0, 0, 0], "external_id": [6, 5, 6]}
    )
    events = Table(DEVICE_EVENTS, {"start_ns": [30, 20, 10], "duration_ns": [1, 1, 1], "kind": [0] * 3} | _uint8s(3))
    tables = {**empty_tables(), "operators": operators, "device_events": events}
    # WHEN the events are given in another order than that of time
    linked = link(tables, external_ids=None if ids is None else np.array(ids))["device_events"]
    # THEN each id has followed its event
    assert linked["operator"].tolist() == expected[::-1]


def _uint8s(rows: int) -> dict[str, list[int]]:
    return {"copy": [0] * rows, "host_memory": [0] * rows}


def test_syncs_find_the_call_that_waits() -> None:
    calls = Table(CALLS, {"start_ns": [1], "correlation": [4], "kind": [CallKind.SYNCHRONIZE]})
    syncs = Table(SYNCS, {"start_ns": [2, 3], "duration_ns": [1, 1], "correlation": [4, 5]})
    linked = link({**empty_tables(), "calls": calls, "syncs": syncs})
    assert linked["syncs"]["call"].tolist() == [0, -1]


def test_steps_end_before_their_end() -> None:
    steps = Table(STEPS, {"start_ns": [0, 10], "duration_ns": [10, 5]})
    operators = Table(OPERATORS, _host_rows([(t, 1, 0) for t in (0, 9, 10, 14, 15)]))
    linked = link({**empty_tables(), "steps": steps, "operators": operators})
    assert linked["operators"]["step"].tolist() == [0, 0, 1, 1, -1]
