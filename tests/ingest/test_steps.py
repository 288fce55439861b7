from __future__ import annotations

import pytest

from gpuprof.ingest.steps import Steps, find_steps
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

ENGINE = "autograd::engine::evaluate_function: AddmmBackward0"


def _found(builder: TraceBuilder, window_start_ns: int | None = None, counted: int | None = None) -> Steps:
    trace: Trace = builder.build()
    return find_steps(trace.user_ranges, trace.operators, trace.names, window_start_ns=window_start_ns, counted=counted)


def _us(steps: Steps) -> list[tuple[int, int]]:
    starts, durations = (steps.table[column] // 1000 for column in ("start_ns", "duration_ns"))
    return list(zip(starts.tolist(), durations.tolist(), strict=True))


def _batch(builder: TraceBuilder, at: int, *, backward: bool = False, optimizer: int = 0, operators: int = 4) -> None:
    """One iteration of 100 µs: 10 µs of loading, operators, a backward pass, optimizer steps."""
    builder.data_wait(at, 10)
    for i in range(operators):
        builder.operator("aten::linear", at + 15 + i, 1)
    if backward:
        builder.operator(ENGINE, at + 40, 10)
    for i in range(optimizer):
        builder.optimizer_step("SGD", at + 60 + 10 * i, 5)


def test_profiler_steps_count_once_each_and_win() -> None:
    builder = TraceBuilder().span("ProfilerStep#7", 0, 50).span("ProfilerStep#8", 50, 40)
    builder.thread("other").span("ProfilerStep#8", 55, 5).data_wait(60, 5)
    steps = _found(builder)
    assert (steps.source, steps.thread, _us(steps)) == ("ProfilerStep", 0, [(0, 50), (50, 40)])
    assert steps.table["number"].tolist() == [7, 8]


def test_an_epoch_loop_has_a_step_for_each_batch_and_none_for_the_exhausted_loader() -> None:
    builder = TraceBuilder()
    for epoch in (0, 1000):
        for batch in range(3):
            _batch(builder, epoch + 100 * batch, backward=True, optimizer=1)
        builder.data_wait(epoch + 300, 1)
        builder.operator("aten::random_", epoch + 310, 1)
    steps = _found(builder)
    assert steps.source == "DataLoader"
    assert _us(steps) == [(0, 100), (100, 100), (200, 100), (1000, 100), (1100, 100), (1200, 100)]


def test_evaluation_between_epochs_makes_no_step() -> None:
    builder = TraceBuilder()
    _batch(builder, 0, backward=True, optimizer=1)
    _batch(builder, 100)
    _batch(builder, 200)
    _batch(builder, 300, backward=True, optimizer=1)
    # THEN the last step ends with its optimizer step
    assert _us(_found(builder)) == [(0, 100), (300, 65)]


def test_accumulated_batches_are_one_step() -> None:
    builder = TraceBuilder()
    for batch in range(5):
        _batch(builder, 100 * batch, backward=True, optimizer=batch % 2)
    assert _us(_found(builder)) == [(0, 200), (200, 200)]


def test_training_without_an_optimizer_of_torch() -> None:
    builder = TraceBuilder()
    for batch in range(3):
        _batch(builder, 100 * batch, backward=batch != 1)
    assert _us(_found(builder)) == [(0, 100), (200, 50)]


def test_inference_needs_a_fair_part_of_the_work() -> None:
    builder = TraceBuilder()
    for batch in range(3):
        _batch(builder, 100 * batch, operators=12)
    _batch(builder, 300, operators=1)
    assert _us(_found(builder)) == [(0, 100), (100, 100), (200, 100)]


def test_what_is_usual_leaves_out_intervals_without_work() -> None:
    builder = TraceBuilder()
    for batch, operators in enumerate((20, 20, 20, 0, 20, 1)):
        _batch(builder, 100 * batch, operators=operators)
    builder.data_wait(600, 1)
    assert [start for start, _ in _us(_found(builder))] == [0, 100, 200, 400]


def test_a_loader_within_a_loader_counts_once() -> None:
    builder = TraceBuilder()
    for batch in range(2):
        _batch(builder, 100 * batch)
        builder.data_wait(100 * batch + 2, 5)
    assert len(_found(builder).table) == 2


def test_a_loader_nobody_computes_with_makes_no_step() -> None:
    assert _found(TraceBuilder().data_wait(0, 5).data_wait(10, 5)).source is None


def test_an_inner_loop_of_optimizer_steps_beats_the_loader() -> None:
    builder = TraceBuilder()
    for epoch in (0, 1000):
        for step in range(5):
            builder.operator(ENGINE, epoch + 100 * step, 10).optimizer_step("SGD", epoch + 100 * step + 50, 5)
        _batch(builder, epoch + 600)
    steps = _found(builder)
    assert (steps.source, len(steps.table)) == ("Optimizer", 9)


def test_optimizer_steps_lie_between_two_ends() -> None:
    builder = TraceBuilder()
    for at in (50, 150, 250):
        builder.optimizer_step("Adam", at, 10)
    assert _us(_found(builder)) == [(60, 100), (160, 100)]
    # WHEN the recording is known to begin with a step THEN the first mark ends one too
    assert _us(_found(builder, window_start_ns=0)) == [(0, 60), (60, 100), (160, 100)]


@pytest.mark.parametrize(
    ("before", "first"),
    [
        # the operators of a step, after others; others; too few
        (("aten::rand", "aten::to", "aten::linear", "aten::mse_loss", ENGINE), [(30, 130)]),
        (("aten::rand", "aten::linear", "aten::to", "aten::mse_loss", ENGINE), []),
        (("aten::linear", "aten::mse_loss", ENGINE), []),
    ],
)
def test_a_first_step_with_the_operators_of_the_next_is_whole(
    before: tuple[str, ...], first: list[tuple[int, int]]
) -> None:
    builder = TraceBuilder()
    for place, name in enumerate(before):
        builder.operator(name, 20 + 10 * place, 8).operator("aten::copy_", 21 + 10 * place, 2)
    for at in (200, 300):
        for place, name in enumerate(("aten::to", "aten::linear", "aten::mse_loss", ENGINE)):
            builder.operator(name, at + 10 * place, 8).operator("aten::copy_", at + 1 + 10 * place, 2)
    for end in (160, 260, 360):
        builder.optimizer_step("SGD", end - 10, 10)
    assert _us(_found(builder)) == [*first, (160, 100), (260, 100)]


def test_a_lone_optimizer_mark_makes_no_step() -> None:
    steps = _found(TraceBuilder().optimizer_step("Adam", 50, 10))
    assert (len(steps.table), steps.source, steps.thread) == (0, None, -1)


def test_one_optimizer_for_each_layer_makes_one_step() -> None:
    builder = TraceBuilder()
    for at in (0, 100, 200):
        builder.operator(ENGINE, at, 10)
        for layer in range(3):
            builder.optimizer_step("SGD", at + 20 + 10 * layer, 5)
    assert _us(_found(builder)) == [(45, 100), (145, 100)]


def test_nothing_marked_is_no_step() -> None:
    assert _found(TraceBuilder().operator("aten::mm", 0, 5)).source is None


@pytest.mark.parametrize(
    ("counted", "ends"),
    [
        # two optimizers of one class: the counted one ends a step
        (3, [40, 140, 240]),
        # not twice as many; and where it is not known
        (6, [20, 40, 120, 140, 220, 240]),
        (4, [20, 40, 120, 140, 220, 240]),
        (None, [20, 40, 120, 140, 220, 240]),
    ],
)
def test_of_two_optimizers_of_one_class_one_ends_a_step(counted: int | None, ends: list[int]) -> None:
    builder = TraceBuilder()
    for at in (0, 100, 200):
        for begin in (at, at + 20):
            builder.operator("MulBackward0", begin + 2, 5).optimizer_step("Adam", begin + 10, 10)
    found = _us(_found(builder, window_start_ns=0, counted=counted))
    assert [begin + lasts for begin, lasts in found] == ends and found[0][0] == 0
