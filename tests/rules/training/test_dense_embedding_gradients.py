"""Dense gradients of tables: which optimizers and uses allow sparse ones, and what they leave, on host and device."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.registry import judge, rule
from tests.rules.cases.training.dense_embedding_gradients import TABLE, training
from tests.rules.training.looked_tables_runs import looked
from tests.support.trace_builder import TraceBuilder

ADAGRAD = ("aten::addcmul_", "aten::sqrt", "aten::add_", "aten::addcdiv_")
ADAM = ("aten::lerp_", "aten::mul_", "aten::addcmul_", "aten::addcdiv_")


def check(trace: Trace) -> Finding | Abstention | None:
    return rule("dense_embedding_gradients").check(Results(trace))


def found(trace: Trace) -> Finding:
    answer = check(trace)
    assert isinstance(answer, Finding), answer
    return answer


@pytest.mark.parametrize(
    ("optimizer", "updating", "severity"),
    [
        ("SGD", ("aten::add_",), Severity.HIGH),
        ("SGD", ("aten::_foreach_add_",), Severity.HIGH),
        ("SGD", ("aten::mul_", "aten::add_", "aten::add_"), None),  # momentum
        ("SGD", ("aten::add", "aten::add_"), None),  # weight decay
        ("SGD", ("aten::_fused_sgd_",), None),
        ("Adagrad", ADAGRAD, Severity.HIGH),
        ("Adagrad", ("aten::add", *ADAGRAD), None),
        ("Adam", ADAM, Severity.LOW),
        ("AdamW", ADAM, Severity.LOW),
        ("Adam", ("aten::_fused_adam_",), None),
        ("RMSprop", ADAM, None),
    ],
)
def test_only_optimizers_with_a_sparse_twin_are_judged(
    optimizer: str, updating: tuple[str, ...], severity: Severity | None
) -> None:
    answer = check(training(optimizer=optimizer, updating=updating).build())
    assert (answer.severity if isinstance(answer, Finding) else answer) == severity
    if isinstance(answer, Finding):
        assert ("SparseAdam" in answer.change) is (severity == Severity.LOW)


@pytest.mark.parametrize(("update_us", "speaks"), [(2000, False), (3500, True)])
def test_under_adam_much_must_be_at_stake(update_us: float, speaks: bool) -> None:
    trace = training(backward_us=400, update_us=update_us, optimizer="Adam", updating=ADAM).build()
    assert (check(trace) is not None) is speaks


@pytest.mark.parametrize(("backward_us", "speaks"), [(300, False), (600, True)])
def test_it_matters_from_a_twentieth_on(backward_us: float, speaks: bool) -> None:
    assert (check(training(backward_us=backward_us, update_us=200).build()) is not None) is speaks


@pytest.mark.parametrize("reading", ["aten::linear", "aten::_foreach_norm", "aten::_foreach_clamp_min_", "aten::pow"])
def test_a_table_that_is_read_whole_has_a_dense_gradient(reading: str) -> None:
    assert check(training(reading=reading).build()) is None


def test_zeroing_the_gradients_is_no_such_reading() -> None:
    assert isinstance(check(training(reading="aten::_foreach_zero_").build()), Finding)


def test_gradients_scaled_by_frequency_cannot_be_sparse() -> None:
    assert check(training(flags='"-1", "True"').build()) is None


def test_the_more_rows_are_used_the_less_is_saved() -> None:
    few, many = (found(training(indices).build()).saving for indices in (1000, 10_000))
    assert few is not None and many is not None
    assert few.central_ns - many.central_ns == pytest.approx(5 * 1.25 * 0.09 * (2 * 4e6 + 3 * 2e6))
    assert many.low_ns == pytest.approx(5 * (4e6 + 2e6 - 0.4e6 - 4 * 0.1 * 4e6 - 10 * 0.1 * 2e6))


def test_short_gradients_are_not_asked_for() -> None:
    assert check(training(backward_us=600, shapes=False).build()) is None
    assert isinstance(check(training(backward_us=650, shapes=False).build()), Abstention)


def test_it_is_reported() -> None:
    assert [each.rule for each in judge(Results(training().build()), strict=True).findings] == [
        "dense_embedding_gradients"
    ]


def on_device(*, waits: bool = False) -> Trace:
    """Five steps whose kernels run back to back: 2 ms of zeroing and filling, 1 ms of SGD, 1 ms of other work.

    `waits`: the device is idle most of the time, for launches that come late.
    """
    builder, begin = TraceBuilder(), 0
    for number in range(5):
        at = begin + number * (20_000 if waits else 4000)
        builder.step(at, 20_000 if waits else 4000)
        builder.operator("aten::mm", at + 1, 10).kernel("sgemm", at + 20, 1000, launch_at_us=at + 2)
        dims, values = "[[1000, 64], [1000], [], [], []]", '["", "", "100000", "-1", "False"]'
        builder.operator("aten::embedding_dense_backward", at + 30, 20, dims=dims, values=values)
        builder.operator("aten::zeros", at + 31, 6).kernel("fill", at + 1020, 1500, launch_at_us=at + 32)
        builder.kernel("compute_grad_weight", at + 2520, 500, launch_at_us=at + 40)
        builder.optimizer_step("SGD", at + 60, 30)
        lists = f"[[{TABLE}, [64]], [{TABLE}, [64]], []]"
        builder.operator("aten::_foreach_add_", at + 61, 20, dims=lists)
        builder.kernel("multi_tensor_apply", at + 3020, 960, launch_at_us=at + 65)
        builder.sync(at + 100, 3885)
    return builder.build()


def test_on_a_device_its_kernels_count() -> None:
    finding = found(on_device())
    assert finding.evidence["backward_ms"] == pytest.approx(10.0)
    assert finding.evidence["optimizer_ms"] == pytest.approx(4.8, rel=0.01)
    assert finding.saving is not None and "simulated" in finding.saving.basis
    assert finding.saving.central_ns == pytest.approx(5 * (2000 + 960 * 0.94 - 120) * 1e3, rel=0.02)


def test_a_device_that_waits_for_launches_gains_nothing() -> None:
    assert check(on_device(waits=True)) is None


def test_launches_without_device_events_are_not_judged() -> None:
    builder = training().call("cudaLaunchKernel", 1100, 5)
    answer = check(builder.build())
    assert isinstance(answer, Abstention) and "gpuprof doctor" in answer.how


def test_the_close_look_knows_the_sizes_where_the_recording_does_not() -> None:
    by_look, by_shapes = found(looked().build()), found(training().build())
    assert (by_look.severity, by_look.title) == (by_shapes.severity, by_shapes.title)
    assert by_look.evidence["rows_used"] == by_shapes.evidence["rows_used"]
    assert by_look.evidence["backward_ms"] == by_shapes.evidence["backward_ms"]
    # the recording has another operator of the same name, on a small weight
    assert by_look.evidence["optimizer_ms"] == pytest.approx(by_shapes.evidence["optimizer_ms"], rel=0.01)


@pytest.mark.parametrize(
    "facts",
    [
        {"indices": 25_100},
        {"clipped": True},
        {"updating": ("aten::add.Tensor", "aten::add_.Tensor")},  # weight decay
        {"optimizer": "RMSprop"},
        {"updating": ("aten::_fused_sgd_",)},
    ],
)
def test_by_the_look_too_it_is_silent_where_sparse_gradients_do_not_work(facts: dict[str, Any]) -> None:
    assert check(looked(**facts).build()) is None


def test_it_asks_for_shapes_where_the_look_saw_other_steps() -> None:
    assert isinstance(check(looked(lookups=2).build()), Abstention)
    assert isinstance(check(looked().context(look=None).build()), Abstention)


def test_under_adam_it_is_low_by_the_look_too() -> None:
    updating = tuple(f"{name}.Tensor" for name in ADAM)
    builder = looked(training(shapes=False, optimizer="Adam", updating=ADAM), optimizer="Adam", updating=updating)
    answer = found(builder.build())
    assert answer.severity is Severity.LOW and "SparseAdam" in answer.change


def indexed() -> TraceBuilder:
    """A node of an index that takes 4 ms of a step of 10, and 2 ms of the optimizer."""
    builder = TraceBuilder()
    for at in range(0, 50_000, 10_000):
        builder.step(at, 10_000).operator("aten::index", at, 500)
        builder.operator("IndexBackward0", at + 1000, 4000).operator("aten::new_zeros", at + 1001, 2000)
        builder.operator("aten::_index_put_impl_", at + 3010, 1900)
        builder.optimizer_step("SGD", at + 7000, 2020).operator("aten::add_", at + 7001, 2000)
    return builder.operator("aten::mean", 49_999, 1)


def test_a_parameter_that_is_indexed_is_told_by_the_look_alone() -> None:
    assert check(indexed().build()) is None
    answer = found(looked(indexed(), lookup="index").build())
    assert answer.title.startswith("A parameter that is indexed is given dense gradients")
    assert "F.embedding(rows, table, sparse=True)" in answer.change
    assert answer.evidence["backward_ms"] == pytest.approx(20.0)
    assert answer.evidence["optimizer_ms"] == pytest.approx(10.0)
