"""Operators by name and by phase."""

from __future__ import annotations

from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.operators import Operators
from gpuprof.model import intervals
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def operators(trace: Trace) -> Operators:
    return Results(trace).get(Operators)


def test_total_and_self_time() -> None:
    """GIVEN linear (100 µs) around addmm (60 µs), and another addmm."""
    builder = TraceBuilder().operator("aten::linear", 0, 100).operator("aten::addmm", 20, 60)
    found = operators(builder.operator("aten::addmm", 200, 10).build())
    assert [(use.name, use.count, use.total_ns, use.self_ns) for use in found.uses] == [
        ("aten::addmm", 2, 70_000, 70_000),
        ("aten::linear", 1, 100_000, 40_000),
    ]


def test_an_operator_within_its_own_name_counts_once_in_the_total() -> None:
    builder = (
        TraceBuilder().operator("aten::to", 0, 100).operator("aten::_to_copy", 10, 80).operator("aten::to", 20, 30)
    )
    uses = {use.name: use for use in operators(builder.build()).uses}
    assert (uses["aten::to"].count, uses["aten::to"].total_ns, uses["aten::to"].self_ns) == (2, 100_000, 50_000)


def test_phases_partition_the_time_in_operators() -> None:
    """GIVEN input 10 µs (left out), forward 20, backward 30, optimizer 40 and Python between them."""
    builder = TraceBuilder().data_wait(0, 15).operator("aten::stack", 0, 10).operator("aten::mm", 100, 20)
    builder.operator("autograd::engine::evaluate_function: MmBackward0", 200, 30).operator("aten::mm", 205, 10)
    builder.optimizer_step("SGD", 300, 60).operator("aten::add_", 310, 40)
    found = operators(builder.build())
    assert (found.forward_ns, found.backward_ns, found.optimizer_ns) == (20_000, 30_000, 40_000)


def test_backward_of_another_thread_does_not_count() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 20).thread("autograd").operator("MmBackward0", 30, 50)
    found = operators(builder.build())
    assert (found.forward_ns, found.backward_ns) == (20_000, 0)


def test_nothing_recorded_is_unknown(empty_trace: Trace) -> None:
    found = operators(empty_trace)
    assert found.uses == ()
    assert (found.forward_ns, found.backward_ns, found.optimizer_ns) == (None,) * 3


def test_self_times_add_up_to_the_top_operators(any_shared_trace: Any) -> None:
    found, table = operators(any_shared_trace), any_shared_trace.operators
    top = table.take(table["parent"] < 0)
    whole = intervals.of(top).total_ns
    assert abs(sum(use.self_ns for use in found.uses) - whole) <= max(whole * 0.01, 1000 * len(table))
    assert sum(use.count for use in found.uses) == len(table)
