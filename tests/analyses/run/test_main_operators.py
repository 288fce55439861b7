"""The operators of the main thread."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.main_operators import MainOperators
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def test_inner_ones_count_as_well_those_of_other_threads_do_not() -> None:
    builder = TraceBuilder().operator("aten::linear", 10, 20).operator("aten::addmm", 12, 5)
    builder.operator("aten::add", 40, 1).thread("other").operator("aten::mm", 50, 5)
    found = Results(builder.build()).get(MainOperators)
    assert found.each.starts.tolist() == [10_000, 12_000, 40_000]
    assert found.each.ends.tolist() == [30_000, 17_000, 41_000]
    assert (found.inside.starts.tolist(), found.inside.total_ns) == ([10_000, 40_000], 21_000)


def test_nothing_recorded_has_none(empty_trace: Trace) -> None:
    assert len(Results(empty_trace).get(MainOperators).each.starts) == 0
