"""The recorded part of a cell: what a Trace spans where its Recording knows when the cell ran."""

from __future__ import annotations

import pytest

from gpuprof.ingest.assemble import assemble
from gpuprof.model.context import CellOutcome, RunContext, Window
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

CELL = Window(cell_start_ns=1_000_000, cell_end_ns=9_000_000, start_ns=1_000_000, end_ns=9_500_000)


def recorded(builder: TraceBuilder, error: str | None) -> Trace:
    trace = builder.build()
    context = RunContext(window=CELL, outcome=CellOutcome(error=error))
    return assemble(trace.tables, trace.names, trace.source, context=context)


@pytest.mark.parametrize(("error", "end_ns"), [(None, 9_000_000), ("NameError", 4_000_000)])
def test_a_cell_that_raised_ends_with_its_last_event(error: str | None, end_ns: int) -> None:
    trace = recorded(TraceBuilder().operator("aten::mm", 3_000, 1_000), error)
    assert (trace.span_start_ns, trace.span_end_ns) == (1_000_000, end_ns)


@pytest.mark.parametrize(("error", "span_ns"), [(None, 8_000_000), ("NameError", 0)])
def test_a_cell_that_raised_before_any_event_spans_nothing(error: str | None, span_ns: int) -> None:
    assert recorded(TraceBuilder(), error).span_ns == span_ns
