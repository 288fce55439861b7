"""What of a step is training, and what is done beside it."""

from __future__ import annotations

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.training_passes import TrainingPasses
from gpuprof.model import intervals
from gpuprof.model.context import Garbage
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

NODE = "autograd::engine::evaluate_function: AddmmBackward0"


def training() -> TraceBuilder:
    """Three steps of 1 ms: a sum at 50, a linear layer from 100 to 200, its backward from 300 to 400, the optimizer
    from 400 to 500. The sum shows the number of the next node, as torch writes it."""
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(range(0, 3000, 1000)):
        builder.step(at, 1000).operator("aten::sum", at + 50, 10, sequence=number)
        builder.operator("aten::linear", at + 100, 100, sequence=number)
        builder.operator("aten::addmm", at + 150, 40, sequence=number)
        builder.operator(NODE, at + 300, 100, sequence=number)
        builder.operator("torch::autograd::AccumulateGrad", at + 390, 5)
        builder.optimizer_step("SGD", at + 400, 100)
    return builder


def found(builder: TraceBuilder) -> TrainingPasses:
    return Results(builder.operator("aten::empty", 2999, 1).build()).get(TrainingPasses)


def us(ranges: intervals.Intervals) -> list[tuple[float, float]]:
    return [(start / 1000, end / 1000) for start, end in zip(*ranges, strict=True)]


def test_a_pass_goes_from_the_outermost_operator_with_a_gradient_to_the_end_of_its_node() -> None:
    assert us(found(training()).passes) == [(100, 400), (1100, 1400), (2100, 2400)]


def test_beside_is_the_rest_of_the_steady_steps() -> None:
    training_passes = found(training())
    assert (training_passes.steps, training_passes.parameters) == (2, 1)
    assert us(training_passes.beside) == [(1000, 1100), (1500, 2100), (2500, 3000)]


def test_between_is_what_of_the_passes_no_operator_fills() -> None:
    assert us(found(training()).between) == [(1200, 1300), (2200, 2300)]


def test_waits_for_batches_and_collections_are_not_beside() -> None:
    garbage = Garbage(start_ns=(1_600_000,), duration_ns=(100_000,), generation=(2,))
    builder = training().data_wait(2000, 100).context(garbage=garbage)
    assert us(found(builder).beside) == [(1000, 1100), (1500, 1600), (1700, 2000), (2500, 3000)]


def test_dropout_of_the_inputs_is_not_beside() -> None:
    """Their gradient is not needed, so that no node of a backward pass leads to it; a sum is beside all the same."""
    with_dropout = training().operator("aten::dropout", 1600, 80).build()
    with_sum = training().operator("aten::sum", 1600, 80).build()
    beside = [Results(each).get(TrainingPasses).beside for each in (with_dropout, with_sum)]
    inside = [intervals.contains(each, np.array([1_640_000])).any() for each in beside]
    assert inside == [False, True]


def test_a_pass_without_gradients_is_not_beside() -> None:
    """A teacher from 1600 to 1900, with Python between its layers."""
    builder = training().operator("aten::linear", 1600, 50).operator("aten::layer_norm", 1850, 50)
    assert us(found(builder).beside) == [(1000, 1100), (1500, 1600), (1900, 2100), (2500, 3000)]


def test_the_backward_pass_may_run_on_another_thread() -> None:
    builder = TraceBuilder().operator("aten::empty", 0, 1)
    for number, at in enumerate(range(0, 3000, 1000)):
        builder.thread("main").step(at, 1000).operator("aten::linear", at + 100, 100, sequence=number)
        builder.thread("autograd").operator(NODE, at + 300, 100, sequence=number)
    assert us(found(builder.thread("main")).passes) == [(100, 400), (1100, 1400), (2100, 2400)]


def test_steps_with_counts_where_ranges_begin() -> None:
    trace = training().operator("aten::empty", 2999, 1).build()
    ranges = intervals.Intervals(np.array([1_600_000, 1_800_000]), np.array([1_700_000, 1_900_000]))
    assert Results(trace).get(TrainingPasses).steps_with(ranges) == 1


@pytest.mark.parametrize("linked", [True, False], ids=["inference", "no numbers"])
def test_without_a_backward_pass_that_can_be_joined_there_is_nothing(linked: bool) -> None:
    builder = TraceBuilder()
    for at in range(0, 3000, 1000):
        builder.step(at, 1000).operator("aten::linear", at + 100, 100)
        if not linked:
            builder.operator(NODE, at + 300, 100)
    training_passes = found(builder)
    assert (training_passes.steps, training_passes.parameters, training_passes.unlinked) == (0, None, not linked)
    assert not training_passes.beside.total_ns


def test_every_shared_trace(any_shared_trace: Trace) -> None:
    training_passes = Results(any_shared_trace).get(TrainingPasses)
    beside, within = training_passes.beside, training_passes.within
    assert intervals.subtract(beside, within).total_ns == 0
    assert intervals.intersect(beside, training_passes.passes).total_ns == 0
