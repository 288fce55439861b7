"""Marks of steps in any order: loaders, optimizers and backward passes of a few batches, as `found(number)` draws them.

What steps are found in each is kept, with the other odd files, in tests/data/figures/odd.json.
"""

from __future__ import annotations

from gpuprof.ingest.steps import find_steps
from tests.support.altering.jittered import Draws
from tests.support.figures import Plain, plain
from tests.support.trace_builder import TraceBuilder

ENGINE = "autograd::engine::evaluate_function: AddmmBackward0"
RUNS = 120


def found(number: int) -> Plain:
    """The steps of the run of that number."""
    draws = Draws(number)
    builder, now = TraceBuilder(), 0
    loaded, backward, updates = (draws.of((0, 1, 1)), draws.of((0.0, 0.5, 1.0)), draws.of((0.0, 0.5, 1.0)))
    for batch in range(int(draws.of((1, 2, 3, 6)))):
        builder.thread("main" if draws.of((0, 1, 1, 1)) else "other")
        if loaded:
            builder.data_wait(now, draws.of((0, 5, 10, 200)))
        for each in range(int(draws.of((0, 1, 4, 9)))):
            builder.operator("aten::linear", now + 15 + each, draws.of((0, 1, 40)))
        if draws.of((0.0, 0.25, 0.75)) < backward:
            builder.operator(ENGINE, now + draws.of((15, 40)), 10)
        if draws.of((0.0, 0.25, 0.75)) < updates:
            for each in range(int(draws.of((1, 1, 2, 3)))):
                name = "SGD" if draws.of((0, 1)) else "Adam"
                builder.optimizer_step(name, now + 60 + 10 * each, draws.of((0, 5, 50)))
        if number % 8 == 0:
            builder.span(f"ProfilerStep#{batch % 3}", now, draws.of((0, 50, 100)))
        now += int(draws.of((0, 90, 100, 100)))
    trace = builder.build()
    window = int(draws.of((-1, 0, 10_000)))
    steps = find_steps(trace.user_ranges, trace.operators, trace.names, window_start_ns=None if window < 0 else window)
    return [plain(steps.table), steps.source, steps.thread]
