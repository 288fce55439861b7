"""Which reads of a value the user wrote."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.scalar_reads import ScalarReads
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def reads(trace: Trace) -> ScalarReads:
    return Results(trace).get(ScalarReads)


def _item(builder: TraceBuilder, at: float) -> TraceBuilder:
    return builder.operator("aten::item", at, 5).operator("aten::_local_scalar_dense", at + 1, 3)


def test_reads_are_counted_once_and_by_step() -> None:
    """GIVEN three steps, of which the first has two reads (one of them an `if`) and the last one."""
    builder = TraceBuilder().step(0, 100).step(100, 100).step(200, 100)
    builder.operator("aten::is_nonzero", 10, 9)
    _item(_item(_item(builder, 12), 30), 250)
    found = reads(builder.build())
    assert (found.count, found.total_ns) == (3, 19_000)
    assert (found.per_step, found.steps_with) == (1.0, 2)
    assert found.step.tolist() == [0, 0, 2]


def test_reads_that_the_user_did_not_write_are_left_out() -> None:
    builder = TraceBuilder().data_wait(0, 50).optimizer_step("Adam", 100, 50)
    _item(_item(builder, 10), 110)
    _item(builder.operator("aten::sub", 200, 20), 205)
    assert reads(builder.build()).count == 0


def test_without_steps_nothing_is_said_of_them(empty_trace: Trace) -> None:
    assert (reads(empty_trace).per_step, reads(empty_trace).steps_with) == (None, None)
