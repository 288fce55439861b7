"""What the cases of unread work are made of: ten recorded steps of 1 ms, with operators in lines 3 and 4."""

from __future__ import annotations

import dataclasses

import numpy as np

from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder


def recorded(first: str, second: str, source: str = "") -> TraceBuilder:
    """Each step has 400 µs of `first` in line 3, and 400 µs of `second` in line 4."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).line(3, at).operator(first, at, 400)
        builder.line(4, at + 600).operator(second, at + 600, 400)
    return builder.context(cell=Cell(source=source))


def even(trace: Trace) -> Trace:
    """All operators of the close look with the same time: what is found does not depend on the machine."""
    table = trace.tables["looked_operators"]
    operators = table.replace(duration_ns=np.full(len(table), 1000))
    return dataclasses.replace(trace, tables={**trace.tables, "looked_operators": operators})
