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


def distilled(*, teacher_ends_us: int | None, filled: int, each_us: int = 10) -> Trace:
    """Two passes of a teacher of three weights, then two of a student of two, which fill as many gradients."""
    builder, known = TraceBuilder(), teacher_ends_us
    teacher = Optimizer(
        name="Adam", parameters=3, elements=1, steps=2, last_step_ns=None if known is None else 1000 * known
    )
    student = Optimizer(name="Adam", parameters=2, elements=1, steps=2, last_step_ns=3_900_000)
    builder.context(optimizers=(teacher, student))
    for number, at in enumerate(range(0, 4000, 1000)):
        builder.step(at, 1000).operator("aten::linear", at, 10, sequence=number)
        builder.operator(NODE, at + 50, 10, sequence=number)
        for place in range(3 if number < 2 else filled):
            builder.operator("torch::autograd::AccumulateGrad", at + 60 + each_us * place, each_us)
    return builder.operator("aten::empty", 3999, 1).build()


def test_an_optimizer_that_has_ended_uses_no_gradient() -> None:
    found = Results(distilled(teacher_ends_us=1_900, filled=5)).get(UnusedGradients)
    assert (found.passes, found.filled, found.trained) == (2, 5, 2)
    # of the five, two or three: the less of both ends of the pass is counted
    assert found.ended and found.beyond.total_ns == 2 * 30_000 and found.most_ns == 2 * 40_000


def test_a_teacher_without_gradients_and_one_that_still_learns_are_not_counted() -> None:
    good = Results(distilled(teacher_ends_us=1_900, filled=2)).get(UnusedGradients)
    assert good.beyond.total_ns == 0
    for ends_us in (None, 3_950):
        both = Results(distilled(teacher_ends_us=ends_us, filled=5)).get(UnusedGradients)
        assert (both.trained, both.beyond.total_ns) == (5, 0)


def test_autograds_own_thread_counts() -> None:
    assert Results(run(passes=1, filled=5, trained=2, thread="autograd")).get(UnusedGradients).beyond.total_ns == 60_000


def test_nothing_recorded(empty_trace: Trace) -> None:
    found = Results(empty_trace).get(UnusedGradients)
    assert (found.passes, found.filled, found.trained, found.beyond.total_ns) == (0, None, None, 0)


def test_every_shared_trace(any_shared_trace: Trace) -> None:
    found = Results(any_shared_trace).get(UnusedGradients)
    assert found.trained is None and found.passes >= 0
