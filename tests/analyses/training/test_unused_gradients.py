"""Gradients of weights that no optimizer updates."""

from __future__ import annotations

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.unused_gradients import UnusedGradients
from gpuprof.model.context import Optimizer
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: AddmmBackward0"


def run(*, passes: int, filled: int, trained: int, thread: str = "main") -> Trace:
    """Two steps of 1 ms with that many backward passes each, which fill a gradient every 10 µs."""
    builder = TraceBuilder().thread("main")
    builder.context(optimizers=(Optimizer(name="SGD", parameters=trained, elements=1, steps=2),))
    number = 0
    for at in range(0, 2000, 1000):
        builder.thread("main").step(at, 1000)
        for begin in range(at, at + passes * 200, 200):
            builder.thread("main").operator("aten::linear", begin, 10, sequence=number)
            builder.thread(thread).operator(NODE, begin + 50, 10, sequence=number)
            for place in range(filled):
                builder.operator("torch::autograd::AccumulateGrad", begin + 60 + 10 * place, 10)
            number += 1
    return builder.thread("main").operator("aten::empty", 1999, 1).build()


def test_what_comes_after_the_trained_ones_is_beyond() -> None:
    found = Results(run(passes=1, filled=5, trained=2)).get(UnusedGradients)
    assert (found.passes, found.filled, found.trained) == (2, 5, 2)
    assert found.beyond.starts.tolist() == [80_000, 1_080_000]
    assert found.beyond.ends.tolist() == [110_000, 1_110_000]


def test_several_passes_of_a_step_are_counted_each() -> None:
    """Gradients that are accumulated over four passes are no more weights."""
    found = Results(run(passes=4, filled=3, trained=3)).get(UnusedGradients)
    assert (found.passes, found.filled, found.beyond.total_ns) == (8, 3, 0)


def test_autograds_own_thread_counts() -> None:
    assert Results(run(passes=1, filled=5, trained=2, thread="autograd")).get(UnusedGradients).beyond.total_ns == 60_000


def test_nothing_recorded(empty_trace: Trace) -> None:
    found = Results(empty_trace).get(UnusedGradients)
    assert (found.passes, found.filled, found.trained, found.beyond.total_ns) == (0, None, None, 0)


def test_every_shared_trace(any_shared_trace: Trace) -> None:
    found = Results(any_shared_trace).get(UnusedGradients)
    assert found.trained is None and found.passes >= 0
