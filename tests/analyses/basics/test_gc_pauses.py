"""Pauses of the garbage collector inside the steps."""

from __future__ import annotations

from gpuprof.analyses.basics.gc_pauses import CollectorPauses
from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Garbage
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

GARBAGE = Garbage(
    collections=9, start_ns=(10_000, 60_000, 150_000), duration_ns=(20_000,) * 3, generation=(2, 1, 2), total_ns=70_000
)


def test_only_pauses_inside_steps_count_and_hidden_ones_cost_nothing() -> None:
    """GIVEN a device that works on in the second half of the step."""
    builder = TraceBuilder().step(0, 100).operator("aten::mm", 0, 100).operator("aten::mm", 100, 100)
    found = Results(builder.kernel("gemm", 20, 80).context(garbage=GARBAGE).build()).get(CollectorPauses)
    assert (found.known, found.count, found.full) == (True, 1, 0)
    assert (found.pauses.total_ns, found.lasting.total_ns, found.idle_ns) == (40_000, 20_000, 0)


def test_without_steps_the_span_counts() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 200).context(garbage=GARBAGE)
    found = Results(builder.build()).get(CollectorPauses)
    assert (found.count, found.full, found.idle_ns) == (1, 0, None)


def test_a_trace_file_does_not_know(empty_trace: Trace) -> None:
    assert not Results(empty_trace).get(CollectorPauses).known


def test_what_is_collected_in_warm_up_does_not_count() -> None:
    """GIVEN a first step that takes ten times as long as the others, with two collections, and one later."""
    builder = TraceBuilder().step(0, 1000).operator("aten::mm", 0, 1000)
    for at in range(1000, 2000, 100):
        builder.step(at, 100).operator("aten::mm", at, 100)
    starts = (10_000, 500_000, 1_210_000)
    garbage = Garbage(collections=3, start_ns=starts, duration_ns=(20_000,) * 3, generation=(2, 2, 2))
    found = Results(builder.context(garbage=garbage).build()).get(CollectorPauses)
    assert (found.count, found.pauses.total_ns, found.lasting.total_ns) == (0, 20_000, 0)


def test_one_or_two_full_collections_are_chance() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 400)
    starts = (10_000, 60_000, 150_000, 300_000)
    for generations, count, full in (((2, 2, 0, 0), 2, 0), ((2, 2, 2, 0), 4, 3)):
        garbage = Garbage(collections=4, start_ns=starts, duration_ns=(20_000,) * 4, generation=generations)
        found = Results(builder.context(garbage=garbage).build()).get(CollectorPauses)
        assert (found.count, found.full, found.lasting.total_ns) == (count, full, 20_000 * count)
        assert found.pauses.total_ns == 80_000
