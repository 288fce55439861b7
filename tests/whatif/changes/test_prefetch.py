"""Copies on a stream of their own, and ahead of time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.model.kinds import CallKind
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes.graph_edits import together
from gpuprof.whatif.changes.prefetch import copied_ahead, copied_beside
from gpuprof.whatif.changes.trace_changes import calls_gone
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.retime import span_ns
from tests.support.trace_builder import TraceBuilder

_us = st.integers(1, 200)


def loop(steps: list[tuple[int, int, int]]) -> Trace:
    """Each step works on the host, copies and computes for so many µs, and waits."""
    builder, now, free = TraceBuilder(), 0.0, 0.0
    for work, copy, compute in steps:
        begun = now
        now += work
        free = max(now + 8, free + 1)
        builder.copy("h2d", free, copy, host_memory="pinned", launch_at_us=now)
        free += copy + 1
        free = max(now + 13, free)
        builder.kernel("gemm", free, compute, launch_at_us=now + 5)
        free += compute
        builder.sync(now + 10, free + 10 - now - 10)
        now = free + 10
        builder.step(begun, now - begun)
    return builder.build()


def copies(trace: Trace) -> np.ndarray:
    return np.flatnonzero(trace.device_events["copy"] > 0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(_us, _us, _us), min_size=2, max_size=8))
def test_earlier_is_never_slower_and_hides_at_most_the_copies(steps: list[tuple[int, int, int]]) -> None:
    trace = loop(steps)
    graph, rows = build(trace), copies(trace)
    of_step = trace.device_events["step"][rows].astype(np.int64)
    now = span_ns(graph)
    beside = span_ns(copied_beside(rows, 0)(graph))
    ahead = span_ns(copied_ahead(rows, of_step, 0)(graph))
    assert ahead <= beside <= now
    hidden = sum(copy for _, copy, _ in steps[1:]) * 1000
    assert now - ahead <= hidden + 10_000 * len(steps)


def test_the_first_copy_and_those_outside_of_steps_stay_where_they_are() -> None:
    trace = loop([(50, 100, 300)] * 4)
    graph, rows = build(trace), copies(trace)
    beside = span_ns(copied_beside(rows, 0)(graph))
    assert span_ns(copied_ahead(rows, np.full(len(rows), -1), 0)(graph)) == beside
    assert span_ns(copied_ahead(rows[:1], np.array([0]), 0)(graph)) == span_ns(copied_beside(rows[:1], 0)(graph))


def test_no_copies_no_change() -> None:
    graph = build(loop([(50, 100, 300)]))
    none = np.empty(0, np.int64)
    assert copied_beside(none, 0)(graph) is graph
    assert copied_ahead(none, none, 0)(graph) is graph


def test_other_changes_follow_the_copies_to_their_stream() -> None:
    """The prefetched run without its waits, whichever change comes first."""
    trace = loop([(50, 100, 300)] * 6)
    graph, rows = build(trace), copies(trace)
    ahead = copied_ahead(rows, trace.device_events["step"][rows].astype(np.int64), 0)
    waits = calls_gone(np.flatnonzero(trace.calls["kind"] == CallKind.SYNCHRONIZE))
    both = span_ns(together(ahead, waits)(graph))
    assert both == span_ns(together(waits, ahead)(graph)) < span_ns(ahead(graph))
    assert both == pytest.approx((50 + 100 + 6 * 300) * 1000, rel=0.03)
