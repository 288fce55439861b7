"""Built traces of ranks with the durations that a test plants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

STEP_US = 10_000


def a_rank(
    number: int | None,
    durations_us: Sequence[Sequence[float]],
    *,
    kinds: Sequence[str] = ("AllReduce",),
    start_ns: int = 0,
    steps: bool = True,
    first_step: int = 0,
    **described: Any,
) -> Trace:
    """`durations_us[step][k]`, the collectives of a step, which end every 1 ms from its middle on."""
    builder = TraceBuilder(start_ns=start_ns).source(rank=number)
    for row, each in enumerate(durations_us):
        at = row * STEP_US
        if steps:
            builder.step(at, STEP_US, number=first_step + row)
        builder.operator("aten::mm", at, 5)
        for place, duration in enumerate(each):
            end = at + STEP_US / 2 + 1_000 * place
            builder.collective(kinds[place % len(kinds)], end - duration, duration, **described)
    return builder.build()
