"""Grades, fidelity and predictions at their limits: just inside and just beyond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpuprof.errors import UsageError
from gpuprof.model.intervals import Intervals
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.changes.batch_waits import waits_with_workers
from gpuprof.whatif.fidelity import Fidelity, fidelity, replayed
from gpuprof.whatif.grade import Nature, grade
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.host import host_chains, outer_calls
from gpuprof.whatif.graph.layout import lay_out
from gpuprof.whatif.graph.nodes import EdgeKind, NodeKind
from gpuprof.whatif.graph.streams import operations
from gpuprof.whatif.graph.waits import last_enqueued
from gpuprof.whatif.predict import Replay, predict
from gpuprof.whatif.removal import saved_by_number, saved_ns
from gpuprof.whatif.retime import frozen, retime, span_ns
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import run
from tests.whatif.test_grade import FAITHFUL, MS


@pytest.mark.parametrize(
    ("change", "letter"),
    [
        ({"step_errors": (0.02,)}, "A"),
        ({"step_errors": (0.021,)}, "B"),
        ({"step_errors": (0.05,)}, "B"),
        ({"step_errors": (0.051,)}, "C"),
        ({"step_errors": (0.10,)}, "C"),
        ({"step_errors": (0.101,)}, "D"),
        # of 20 ms of idle time
        ({"unexplained_ns": MS}, "A"),
        ({"unexplained_ns": MS + 1}, "B"),
        ({"unexplained_ns": 2 * MS}, "B"),
        ({"unexplained_ns": 2 * MS + 1}, "C"),
        ({"unexplained_ns": 5 * MS}, "C"),
        ({"unexplained_ns": 5 * MS + 1}, "D"),
        # of a run of 100 ms
        ({"idle_ns": MS // 2, "unexplained_ns": MS // 2 + 1}, "B"),
        ({"idle_ns": MS, "unexplained_ns": MS}, "B"),
        ({"idle_ns": MS, "unexplained_ns": MS + 1}, "C"),
        ({"idle_ns": 3 * MS, "unexplained_ns": 3 * MS}, "C"),
        ({"idle_ns": 3 * MS, "unexplained_ns": 3 * MS + 1}, "D"),
        ({"unexplained_wait_ns": MS // 2}, "A"),
        ({"unexplained_wait_ns": MS // 2 + 1}, "C"),
        ({"unexplained_wait_ns": 5 * MS}, "C"),
        ({"unexplained_wait_ns": 5 * MS + 1}, "D"),
        ({"unlaunched_share": 0.05}, "A"),
        ({"unlaunched_share": 0.051}, "C"),
        ({"inferred_ns": 5 * MS}, "A"),
        ({"inferred_ns": 5 * MS + 1}, "C"),
        ({"calls": 0}, "D"),
    ],
)
def test_where_a_grade_ends(change: dict[str, float], letter: str) -> None:
    assert grade(replace(FAITHFUL, **change)).letter == letter


def test_what_is_assumed_or_calibrated_limits_the_grade() -> None:
    removal = Nature(removes_only=True, models_kernels=False)
    assert grade(FAITHFUL, replace(removal, assumed="how fast workers are is assumed")).letter == "C"
    assert grade(FAITHFUL, replace(removal, calibrated=True)).letter == "B"


def test_the_facts_of_a_run_whose_times_are_known() -> None:
    """Two kernels of 300 µs, launched at 100 and, after the first wait returned at 418, at 518; lags are 8 µs."""
    trace = run([("work", 100), ("kernel", 7, 300), ("sync_all",)] * 2)
    facts = fidelity(trace, build(trace))
    assert facts.span_ns == 836_000 and facts.span_error == pytest.approx(0.0, abs=0.01)
    assert facts.idle_ns == (108 + 118) * 1000  # until the last kernel ends
    assert (facts.unexplained_ns, facts.late_ns, facts.inferred_ns, facts.unexplained_wait_ns) == (0, 0, 0, 0)
    assert (facts.operations, facts.calls, facts.unlaunched_share) == (2, 4, 0.0)
    assert facts.waits_recorded and facts.sync_events and facts.step_spread is None
    assert facts.unexplained_share == 0.0


def facts_of(builder: TraceBuilder) -> Fidelity:
    trace = builder.build()
    return fidelity(trace, build(trace))


def test_idle_time_that_nothing_explains() -> None:
    """Both could have begun 592 µs earlier; the second of them waited in an idle device, the first opened the run."""
    builder = TraceBuilder().kernel("a", 8, 50, launch_at_us=0).kernel("b", 1600, 50, launch_at_us=1000)
    builder.kernel("c", 2008, 50, launch_at_us=2000).sync(2010, 58)
    facts = facts_of(builder)
    assert facts.idle_ns == 1_000 * (8 + (1600 - 58) + (2008 - 1650))
    assert facts.unexplained_ns == facts.late_ns == 592_000
    assert facts.unexplained_share == pytest.approx(592 / 1908)
    other = TraceBuilder().kernel("k", 18, 50).kernel("k", 100, 50, launch_at_us=92).kernel("k", 200, 50)
    assert facts_of(other).unlaunched_share == pytest.approx(2 / 3)


@pytest.mark.parametrize(("took_us", "unexplained_ns"), [(100, 0), (101, 101_000)])
def test_a_wait_may_take_some_time_of_its_own(took_us: float, unexplained_ns: int) -> None:
    """The shorter of two waits for nothing shows what it takes by itself."""
    builder = TraceBuilder().sync(0, took_us).sync(500, took_us).kernel("k", 1018, 10, launch_at_us=1010)
    assert facts_of(builder).unexplained_wait_ns == 2 * unexplained_ns


def test_the_worst_step_counts_and_without_steps_the_run() -> None:
    assert replace(FAITHFUL, step_errors=(0.01, -0.07)).error == 0.07
    assert replace(FAITHFUL, step_errors=(), span_error=-0.03).error == 0.03
    assert Fidelity.unexplained_share.fget(replace(FAITHFUL, idle_ns=0)) == 0.0  # type: ignore[attr-defined]


def test_times_between_two_nodes_are_reached_in_proportion() -> None:
    """The host works for 100 µs before its launch; with half of that it is half as far."""
    trace = run([("work", 100), ("kernel", 7, 300), ("sync_all",)])
    graph = build(trace)
    half = graph_edits.scale(graph, graph.call_node[[0]] - 1, 0.5)
    times = graph.origin_ns + np.array([0, 40_000, 100_000])
    assert replayed(graph, retime(half), times).tolist() == [0.0, 20_000.0, 50_000.0]
    blind = build(TraceBuilder().kernel("k", 0, 10).build())
    assert np.isnan(replayed(blind, retime(blind), times)).all()


def test_what_cannot_be_scaled_is_told() -> None:
    graph = build(run([("work", 100), ("kernel", 7, 300), ("sync_all",)]))
    for bad in (-0.5, float("nan")):
        with pytest.raises(UsageError):
            graph_edits.scale(graph, graph.call_node, bad)
        with pytest.raises(UsageError):
            graph_edits.scale_host_time(graph, Intervals(np.array([0]), np.array([10])), bad)
    with pytest.raises(UsageError):
        graph_edits.set_duration(graph, graph.call_node, np.array([5, -1]))
    assert graph_edits.scale(graph, graph.call_node, 0).duration_ns[graph.call_node].tolist() == [0, 0]
    assert graph_edits.set_duration(graph, graph.call_node, 0).duration_ns[graph.call_node].tolist() == [0, 0]


def test_host_time_is_scaled_only_within_the_intervals_each_by_its_own_factor() -> None:
    """Work from 0 to 100 µs, a launch of 5, work until 205."""
    graph = build(run([("work", 100), ("kernel", 7, 10), ("work", 100), ("kernel", 7, 10), ("sync_all",)]))
    first, second = (graph.call_node[row] - 1 for row in (0, 1))
    within = Intervals(np.array([20_000, 150_000]) + graph.origin_ns, np.array([60_000, 170_000]) + graph.origin_ns)
    changed = graph_edits.scale_host_time(graph, within, np.array([0.25, 2.0])).duration_ns
    assert changed[first] == 100_000 - 0.75 * 40_000
    assert changed[second] == 100_000 + 20_000
    others = np.setdiff1d(np.arange(len(changed)), [first, second])
    assert (changed[others] == graph.duration_ns[others]).all()


def test_removed_waits_save_what_they_cost_one_after_the_other() -> None:
    """Each wait keeps the host 300 µs from preparing the next step."""
    trace = run([("work", 100), ("kernel", 7, 300), ("sync_all",)] * 4 + [("kernel", 7, 10), ("sync_all",)])
    replay = Replay.of(trace)
    syncs = [np.array([row]) for row in np.flatnonzero(trace.names_of(trace.calls) == "cudaDeviceSynchronize")]
    saved = saved_by_number(replay, syncs, (1, 2, 3))
    assert saved == sorted(saved) and saved[0] > 90_000
    for number, ns in zip((1, 2, 3), saved, strict=True):
        rows = np.concatenate(syncs[:number])
        gone = graph_edits.remove(replay.graph, replay.graph.call_node[rows])
        assert ns == pytest.approx(replay.baseline_ns - span_ns(gone), rel=1e-3)
        assert saved_ns(replay, rows) == ns
    assert saved_ns(replay, np.empty(0, np.int64)) == 0


def test_frozen_keeps_what_nothing_explains() -> None:
    """The second kernel began 592 µs later than it could have."""
    builder = TraceBuilder().kernel("a", 8, 50, launch_at_us=0).kernel("b", 1600, 50, launch_at_us=1000)
    trace = builder.kernel("c", 2008, 50, launch_at_us=2000).sync(2010, 58).build()
    graph = build(trace)
    node = graph.event_node[1]
    assert retime(graph)[node] == 1_058_000
    assert retime(frozen(graph))[node] == 1_650_000


@pytest.mark.parametrize(
    ("workers", "prefetch", "rest_ms"), [(1, 2, 4), (1, 1, 12), (2, 1, 4), (2, 2, 4), (2, 2, 6), (3, 1, 4), (5, 2, 4)]
)
def test_what_workers_leave_of_the_waits(workers: int, prefetch: int, rest_ms: float) -> None:
    """The batches are made twice over, and the second time counts."""
    load_ms = [10.0, 10.0, 25.0, 10.0]
    found = waits_with_workers(np.array(load_ms) * MS, rest_ms * MS, workers, prefetch=prefetch)
    assert found.tolist() == pytest.approx(by_hand(load_ms * 2, rest_ms, workers, prefetch)[4:])


def by_hand(load_ms: list[float], rest_ms: float, workers: int, prefetch: int) -> list[float]:
    """Workers as objects, each with the time at which it is free."""
    free, taken, waits = [0.0] * workers, [0.0] * len(load_ms), []
    for batch, cost in enumerate(load_ms):
        worker = batch % workers
        may_begin = taken[batch - prefetch * workers] if batch >= prefetch * workers else 0.0
        free[worker] = max(free[worker], may_begin) + cost
        asked = taken[batch - 1] + rest_ms if batch else 0.0
        taken[batch] = max(asked, free[worker] + 0.7)
        waits.append(1e6 * (taken[batch] - asked))
    return waits


@pytest.mark.parametrize(("unlaunched", "possible"), [(1, True), (2, False)])
def test_a_run_is_retimed_where_half_of_its_work_has_a_launch(unlaunched: int, possible: bool) -> None:
    builder = TraceBuilder().kernel("k", 18, 10, launch_at_us=10).sync(30, 40)
    for number in range(unlaunched):
        builder.kernel("k", 40 + 20 * number, 10)
    assert Replay.of(builder.build()).possible is possible


@pytest.mark.parametrize(("left", "minor"), [(0.913, True), (0.905, False)])
def test_a_gain_of_three_per_cent_is_not_minor(left: float, minor: bool) -> None:
    """Kernels take 300 of the 906 µs of a step: 2.9 and 3.1 % are gained."""
    replay = Replay.of(run([("work", 588), ("kernel", 7, 300), ("sync_all",)] * 10))
    exact = replace(replay, facts=replace(replay.facts, span_error=0.0, step_errors=()))
    found = predict(exact, lambda graph: graph_edits.scale(graph, graph.select(NodeKind.DEVICE_OP), left))
    assert found.share == pytest.approx((1 - left) * 300 / 906, rel=0.01)
    assert found.minor is minor


def test_the_last_operation_enqueued_before_a_time() -> None:
    builder = TraceBuilder().kernel("a", 20, 5, launch_at_us=10).kernel("b", 40, 5, launch_at_us=30)
    trace = builder.kernel("c", 60, 5, launch_at_us=50, stream=20).build()
    chains = host_chains(trace, np.ones(len(trace.calls), bool))
    ops = operations(trace, np.ones(len(trace.device_events), bool), outer_calls(trace, chains))
    layout = lay_out(trace, chains, ops, 0)
    found = last_enqueued(layout, np.array([10_000, 10_001, 30_001, 50_001]))
    assert found.tolist() == [[-1, 0, 1, 1], [-1, -1, -1, 2]]


def test_a_queue_edge_needs_a_queue() -> None:
    graph = build(run([("kernel", 7, 10)] * 30 + [("sync_all",)]))
    assert not (graph.edges.kind == EdgeKind.QUEUE).any()
