"""Built cells with iterations, passes over loaders and sampled stacks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import msgspec

from gpuprof.model.context import Cell, Loader
from gpuprof.model.schema import ITERATIONS
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from tests.support.trace_builder import CELL_FILE, TraceBuilder

MS = 1_000_000


def line(number: int, function: str = "<module>") -> tuple[str, str, int]:
    return CELL_FILE, function, number


def cell(
    builder: TraceBuilder,
    *,
    ends_ms: tuple[float, ...] = (),
    loaders: tuple[Loader, ...] = (),
    source: str = "",
    optimizer: bool = True,
) -> Trace:
    """`ends_ms`: when each step ended, from the first."""
    trace = builder.build()
    ends = [int(each * MS) for each in ends_ms]
    columns: dict[str, Any] = {
        "start_ns": ends[:-1],
        "duration_ns": [after - before for before, after in pairwise(ends)],
        "optimizer_ns": [MS if optimizer else -1] * max(len(ends) - 1, 0),
        "plain": [True] * max(len(ends) - 1, 0),
    }
    known = Cell(source=source, execution_count=7, filename=CELL_FILE)
    context = msgspec.structs.replace(trace.context, cell=known, loaders=loaders)
    return replace(trace, context=context, tables={**trace.tables, "iterations": Table(ITERATIONS, columns)})


def reading(starts_ms: tuple[float, ...], wait_ms: float = 1.0, passes_ms: tuple[float, ...] | None = None) -> Loader:
    return Loader(
        workers=0,
        wait_start_ns=tuple(int(each * MS) for each in starts_ms),
        wait_ns=(int(wait_ms * MS),) * len(starts_ms),
        iteration_start_ns=tuple(int(each * MS) for each in passes_ms or starts_ms[:1]),
    )
