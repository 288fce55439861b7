"""Predictions against a model of host and device whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import HOST_WAITS, NodeKind
from gpuprof.whatif.retime import span_ns
from tests.whatif.programs import Program, programs, run, span_us

# Each wait may be estimated wrong by the call's own few µs.
TOLERANCE_US = 10


def _waits(program: Program) -> int:
    return sum(each[0] not in ("work", "kernel") for each in program)


def _slack(program: Program) -> float:
    return TOLERANCE_US * (1 + _waits(program))


@given(programs, st.booleans())
def test_a_run_replays_as_it_was(program, sync_events):
    trace = run(program, sync_events=sync_events)
    assert span_ns(build(trace)) / 1000 == pytest.approx(span_us(trace), abs=_slack(program))


@settings(max_examples=60)
@given(programs)
def test_faster_kernels(program):
    faster: Program = [(*each[:-1], each[-1] // 4) if each[0] in ("kernel", "fetch") else each for each in program]
    graph = build(run(program))
    events = graph.select(NodeKind.DEVICE_OP)
    quartered = graph_edits.set_duration(graph, events, graph.duration_ns[events] // 4000 * 1000)
    assert span_ns(quartered) / 1000 == pytest.approx(span_us(run(faster)), abs=_slack(program))


@settings(max_examples=60)
@given(programs)
def test_host_work_taken_away(program):
    quick: Program = [each for each in program if each[0] != "work"]
    graph = build(run(program))
    idle = graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP))
    assert span_ns(idle) / 1000 == pytest.approx(span_us(run(quick)), abs=_slack(program))


@settings(max_examples=60)
@given(programs)
@example(
    [
        ("kernel", 7, 31),
        ("kernel", 20, 1),
        ("work", 35),
        ("sync", 7),
        ("kernel", 20, 24),
        ("kernel", 7, 10),
        ("sync_all",),
    ]
)
def test_without_sync_events_a_saving_is_not_promised_where_a_wait_is_unsure(program):
    """Which stream was waited for is then inferred: it may hide a gain, it must not invent one."""
    quick: Program = [each for each in program if each[0] != "work"]
    graph = build(run(program, sync_events=False))
    idle = graph_edits.remove(graph, graph.select(NodeKind.HOST_GAP))
    assert span_ns(idle) / 1000 >= span_us(run(quick)) - _slack(program)


@settings(max_examples=60)
@given(programs)
def test_synchronisations_taken_away(program):
    free: Program = [each for each in program if not each[0].startswith("sync")]
    trace = run(program)
    graph = build(trace)
    names = trace.names_of(trace.calls)
    calls = graph.call_node[[row for row, name in enumerate(names) if "Synchronize" in name]]
    edited = graph_edits.remove(graph, calls)
    assert np.isin(edited.edges.kind, HOST_WAITS).sum() <= np.isin(graph.edges.kind, HOST_WAITS).sum()
    assert span_ns(edited) / 1000 == pytest.approx(span_us(run(free)), abs=_slack(program))
