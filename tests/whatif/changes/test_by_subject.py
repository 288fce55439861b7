"""Changes by what they are about: which device events take how long afterwards, and how long the run."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.analyses.loops.host_loops import HostLoops
from gpuprof.analyses.training.gradient_zeroing import GradientZeroing
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.whatif.changes.batches import batches_at_once, batches_planned
from gpuprof.whatif.changes.collectives import collectives_hidden
from gpuprof.whatif.changes.copies import copied_from_pinned, copied_together
from gpuprof.whatif.changes.gradients import backward_ended, gradients_sparse
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.changes.host_loops import accesses_at_once, cats_scaled, loop_read_once, turns_at_once
from gpuprof.whatif.changes.kernel_times import attention_fused, kernels_taking
from gpuprof.whatif.changes.optimizers import optimizer_steps_taking, zeroing_dropped
from gpuprof.whatif.changes.trace_changes import unchanged
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS
from gpuprof.whatif.retime import span_ns
from tests.rules.cases.host import loop_on_host
from tests.rules.cases.transfers import small_h2d_copies
from tests.support.trace_builder import TraceBuilder

PLACES = (np.array([], np.int64), np.array([0]), np.array([1]))


def launching(*kernels: tuple[str, float]) -> Results:
    """Kernels of so many µs in a row, launched 30 µs apart from 0 on."""
    builder, free = TraceBuilder().step(0, 1000), 0.0
    for place, (name, lasting) in enumerate(kernels):
        free = max(free + 1, 30 * place + 10)
        builder.operator("aten::op", 30 * place, 20).kernel(name, free, lasting, launch_at_us=30 * place + 2)
        free += lasting
    return Results(builder.operator("aten::end", 990, 5).build())


def lasting_us(results: Results, edit: GraphEdit) -> list[float]:
    """What each device event takes after the edit."""
    graph = build(results.trace)
    durations: Array = edit(graph).duration_ns[graph.event_node]
    return (durations / 1000).tolist()


def spans_ns(results: Results, *edits: GraphEdit) -> list[int]:
    graph = build(results.trace)
    return [span_ns(edit(graph)) for edit in edits]


def test_kernels_take_shares_and_a_share_of_one_changes_nothing() -> None:
    results = launching(("a", 100), ("b", 10))
    change = kernels_taking(np.array([0]), 1, 0.5, 0.0)
    assert change.pessimistic is unchanged
    assert [lasting_us(results, each) for each in (change.central, change.optimistic)] == [[50, 10], [0, 10]]


def test_fused_attention_drops_the_scores_and_at_best_half_of_the_products() -> None:
    results = launching(("product", 40), ("softmax", 100), ("product", 40))
    change = attention_fused(np.array([1]), np.array([0, 2]))
    assert lasting_us(results, change.pessimistic) == [40, 70, 40]
    assert lasting_us(results, change.central) == [40, 0, 40]
    assert lasting_us(results, change.optimistic) == [20, 0, 20]


def test_turns_at_once_keep_the_devices_work_and_pay_each_launch_once() -> None:
    results = launching(*[("k", 10)] * 4)
    change = turns_at_once(results, 4, intervals.single(0, 120_000))
    assert lasting_us(results, change.pessimistic) == [10] * 4
    assert lasting_us(results, change.central) == [8.5] * 4
    assert lasting_us(results, change.optimistic) == [2.5] * 4


def test_a_loop_read_once_waits_once() -> None:
    results = Results(loop_on_host.looped())
    (loop,) = results.get(HostLoops).loops
    change, graph = loop_read_once(results, loop.count, loop.within, loop.waits), build(results.trace)

    def waiting(edited: Graph) -> list[int]:
        waits = np.isin(edited.edges.kind, HOST_WAITS) & np.isin(edited.edges.dst, graph.call_node[loop.waits])
        return sorted(set(edited.edges.dst[waits].tolist()))

    assert len(waiting(graph)) == loop_on_host.TURNS
    assert [waiting(edit(graph)) for edit in (change.pessimistic, change.central)] == [waiting(graph)[-1:]] * 2
    now, worst, usual, best = spans_ns(results, unchanged, change.pessimistic, change.central, change.optimistic)
    # the host's own work of 20 iterations: half of it, or one in 20, remains; 3 µs wait for the last read
    assert now - worst == pytest.approx(1_500_000, rel=0.02)
    assert now - usual == pytest.approx(2_850_000, rel=0.02) and best <= usual


def test_accesses_at_once_launch_nothing_at_best() -> None:
    results = launching(*[("k", 10)] * 4)
    change = accesses_at_once(results, intervals.single(0, 60_000), 0.05)
    assert lasting_us(results, change.pessimistic) == [10] * 4
    assert lasting_us(results, change.central) == [0, 0, 10, 10] and change.central is change.optimistic
    now, worst, usual = spans_ns(results, unchanged, change.pessimistic, change.central)
    assert now - worst >= 50_000 and usual <= worst


def test_cats_are_scaled_where_their_time_is() -> None:
    builder = TraceBuilder().operator("aten::cat", 0, 20).kernel("cat", 10, 30, launch_at_us=2)
    builder.operator("aten::cat", 100, 40).operator("aten::mm", 200, 20).kernel("mm", 210, 30, launch_at_us=202)
    results = Results(builder.build())
    assert lasting_us(results, cats_scaled(results, np.array([0, 1]), 0.5)) == [15, 30]
    now, first, second = spans_ns(results, *(cats_scaled(results, places, 0.5) for places in PLACES))
    assert now - first == 0 and now - second == 20_000


def test_optimizer_steps_take_less_on_host_and_device() -> None:
    results = launching(("a", 10), ("b", 10), ("c", 10))
    half = optimizer_steps_taking(results, intervals.single(30_000, 60_000), 0.5)
    assert lasting_us(results, half) == [10, 5, 10]
    now, then = spans_ns(results, unchanged, half)
    assert now - then >= 10_000


def test_dropped_zeroing_leaves_the_additions_that_are_needed() -> None:
    builder = TraceBuilder().span("Optimizer.zero_grad#SGD.zero_grad", 0, 20).operator("aten::zero_", 5, 10)
    builder.kernel("fill", 10, 8, launch_at_us=6)
    for at in (30, 60):
        builder.operator("torch::autograd::AccumulateGrad", at, 20).operator("aten::add_", at + 2, 10)
        builder.kernel("add", at + 10, 8, launch_at_us=at + 3)
    results, none = Results(builder.build()), intervals.EMPTY
    assert results.get(GradientZeroing).avoidable_share == 0.5
    assert lasting_us(results, zeroing_dropped(results, none, none, 0.0)) == [0, 4, 4]
    assert lasting_us(results, zeroing_dropped(results, none, none, 1.0)) == [8, 8, 8]


def test_a_backward_pass_that_ends_launches_no_more() -> None:
    results = launching(("a", 10), ("b", 10), ("c", 10))
    change = backward_ended(results, intervals.single(30_000, 90_000))
    assert change.pessimistic is unchanged
    assert lasting_us(results, change.central) == [10, 0, 0]


def test_sparse_gradients_scale_filling_and_updating_apart() -> None:
    results = launching(("fill", 10), ("update", 20), ("other", 10))
    assert lasting_us(results, gradients_sparse(np.array([0]), 0.1, np.array([1]), 0.5)) == [1, 10, 10]


def test_small_copies_become_one_a_step() -> None:
    results = Results(small_h2d_copies.fires())
    change = copied_together(results)
    now, worst, usual, best = spans_ns(results, unchanged, change.pessimistic, change.central, change.optimistic)
    assert now > worst >= usual >= best


def test_copies_from_pinned_memory_are_never_slower_than_now() -> None:
    builder = TraceBuilder().step(0, 1000).operator("aten::copy_", 0, 900)
    builder.copy("h2d", 20, 400, bytes=1_200_000, host_memory="pageable", launch_at_us=10, launch_for_us=420)
    builder.copy("h2d", 500, 10, bytes=1_200_000, host_memory="pageable", launch_at_us=480, launch_for_us=40)
    results = Results(builder.build())
    issued = results.trace.device_events["call"]
    unknown, known = copied_from_pinned(results, issued, None), copied_from_pinned(results, issued, 12e9)
    assert lasting_us(results, unknown.pessimistic) == [400, 10]
    assert lasting_us(results, unknown.central) == lasting_us(results, known.central) == [100, 10]
    assert lasting_us(results, known.pessimistic)[0] > 140


def test_collectives_are_hidden_but_for_waits_for_a_late_rank() -> None:
    results = launching(("ncclKernel_AllReduce", 100))
    exposed = intervals.single(10_000, 110_000)
    change = collectives_hidden(results, exposed, 0.0)
    assert change.pessimistic is unchanged
    assert (lasting_us(results, change.central), lasting_us(results, change.optimistic)) == ([50], [0])
    assert lasting_us(results, collectives_hidden(results, exposed, 40_000.0).optimistic) == [40]


def test_batches_without_a_plan_are_not_waited_for_at_best() -> None:
    results = launching(("a", 10), ("b", 10))
    waits = intervals.single(60_000, 900_000)
    change = batches_at_once(waits)
    now, best = spans_ns(results, change.pessimistic, change.central)
    assert change.pessimistic is unchanged and now - best >= 800_000


def test_a_plan_without_workers_is_no_change() -> None:
    waits = Intervals(np.array([0, 100]), np.array([50, 150]))
    assert batches_planned(WorkerPlan(None, None, None, None, None, None), waits) is None
    plan = WorkerPlan(loader=None, load_ns=40e6, rest_ns=10e6, workers=0, needed=4, cores=8)
    change = batches_planned(plan, waits)
    assert change is not None and change.last and change.central is change.optimistic
