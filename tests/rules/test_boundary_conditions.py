"""Smaller conditions: memory of the host, what an optimizer is given as a diff, places that wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model.context import Cell, Environment, Loader, Optimizer, Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.loading import Loading
from gpuprof.model.memory import HeldTensors
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import all_rules, rule
from gpuprof.rules.saving.scope import Scope, graded, worst
from gpuprof.rules.saving.without_profiling import without_recording
from gpuprof.rules.training.unfused_optimizer import _diff
from tests.rules.cases.host.tensor_grown_by_cat import evaluation
from tests.rules.cases.loading.workers_oversubscribed import crowd, measured
from tests.rules.saving.test_waits_removed import found, steps
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30


def check(name: str, trace: Trace) -> Finding | None:
    answer = rule(name).check(Results(trace))
    assert answer is None or isinstance(answer, Finding)
    return answer


def test_tensors_held_on_a_host_are_measured_by_its_memory() -> None:
    """A run without a device: 2 of 32 GiB."""
    held = (HeldTensors(name="old", kind="global", device="cpu", bytes=2 * GIB, tensors=1, used=False),)
    builder = TraceBuilder().operator("aten::mm", 0, 10)
    builder.context(held=held, environment=Environment(host_memory_bytes=32 * GIB))
    answer = check("tensors_held_by_notebook", builder.build())
    assert answer is not None and answer.severity == Severity.LOW
    assert (answer.evidence["held_share"], answer.evidence["memory_bytes"]) == (0.0625, 32 * GIB)
    assert answer.explanation == "`old` (2.00 GiB): together 6.2 % of the host’s memory (32.0 GiB)."
    assert answer.change == "Before this cell run `%xdel old`."


@pytest.mark.parametrize(
    ("name", "device", "argument"),
    [
        ("Adam", "cpu", "fused"),
        ("Adam", "cuda:1", "fused"),
        ("Adagrad", "cpu", "fused"),
        ("Adagrad", "cuda", "foreach"),
        ("RMSprop", "cuda:0", "foreach"),
        ("RMSprop", "cpu", None),
        ("SGD", "mps", None),
        ("Mine", "cuda", None),
        ("Adam", None, None),
    ],
)
def test_what_an_optimizer_is_given(name: str, device: str | None, argument: str | None) -> None:
    source = f"import torch\nopt = torch.optim.{name}(net.parameters(), lr=0.1)\nopt.step()\n"
    known = Optimizer(name=name, parameters=12, elements=1200, line=3, device=device)
    builder = TraceBuilder().context(optimizers=(known,), cell=Cell(source=source, filename="cell"))
    results = Results(builder.optimizer_step(name, 0, 100).operator("aten::add", 0, 100).build())
    use = results.get(OptimizerSteps).primary
    assert use is not None
    diff = _diff(results, use)
    if argument is None:
        assert diff is None
    else:
        assert diff is not None and f"+opt = torch.optim.{name}(net.parameters(), lr=0.1, {argument}=True)" in diff


def test_a_main_thread_that_never_waits_for_a_core_is_not_held_up() -> None:
    assert check("workers_oversubscribed", crowd(measured(), main_wait=0.0)) is None


def test_the_timing_of_batches_is_no_part_of_the_run_without_recording() -> None:
    """Ten steps of 1 ms with 100 operators each, and batches that took 50 µs of timing each."""
    timed = Loading(
        dataset="d", source="d", dataset_samples=1, batches=10, samples=10, processes=1, sample_ns=0, collate_ns=0,
        cpu_ns=0, own_ns=500_000,
    )  # fmt: skip
    window = Window(recorded_step_ns=1e6, plain_step_ns=8e5)
    builder = TraceBuilder().context(window=window, loadings=(timed,), loaders=(Loader(workers=0),))
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at + 300, 400)
        for place in range(100):
            builder.operator("aten::add", at + (400 if place >= 50 else 0) + 6 * place, 6)
    results = Results(builder.build())
    saving = Scope.of(results).saving(0, 3.5e6, 3.5e6, "upper bound")
    waits = tuple((at * 1_000_000 + 300_000, at * 1_000_000 + 700_000) for at in range(10))
    plain = without_recording(results, saving, waits)
    assert plain.share == pytest.approx(3.5 / (10 - 2 - 0.5))
    assert plain.central_ns == pytest.approx(3.5e6)


@pytest.mark.parametrize(
    ("reads", "numbers", "half"),
    [(2, ["1", "all 2"], None), (3, ["1", "2", "all 3"], "1"), (5, ["1", "2", "4", "all 5"], "2")],
)
def test_the_curve_of_places_that_wait(reads: int, numbers: list[str], half: str | None) -> None:
    """The first read of a step waits for the kernel; without it the next one does, so that all have to go."""
    finding = found(steps(reads))
    curve = str(finding.evidence["saving_by_places_removed"])
    assert [each.split(": ")[0] for each in curve.split(", ")] == numbers
    told = f"without the costliest {half} of the {reads} places that wait"
    assert (told in finding.explanation) is (half is not None)


def test_the_longest_ranges_in_order_of_time() -> None:
    scope = Scope.of(Results(TraceBuilder().operator("aten::mm", 0, 10).build()))
    starts = [0, 10, 30, 60, 100, 150, 210]
    lengths = [5, 1, 6, 2, 9, 3, 4]
    ranges = Intervals(np.array(starts), np.array(starts) + np.array(lengths))
    assert worst(ranges) == ((0, 5), (30, 36), (100, 109), (150, 153), (210, 214))
    assert (scope.steps, scope.words, scope.share(2_500)) == (0, "the recorded time", 0.25)


@pytest.mark.parametrize(
    ("low", "central", "high", "expected"),
    [
        (1, 2, 3, (1, 2, 3)),
        (5, 4, 3, (3, 3, 3)),
        (-5, -4, -3, (0, 0, 0)),
        (1, 2, 90_000, (1, 2, 10_000)),
        (1, 20_000, 90_000, (1, 10_000, 10_000)),
    ],
)
def test_a_saving_is_in_order_and_within_the_span(low: float, central: float, high: float, expected: Any) -> None:
    scope = Scope.of(Results(TraceBuilder().operator("aten::mm", 0, 10).build()))
    saving = scope.saving(low, central, high, "")
    assert (saving.low_ns, saving.central_ns, saving.high_ns) == expected
    assert saving.share == expected[1] / 10_000


def test_where_severities_begin() -> None:
    assert [graded(share, 0.2, 0.1) for share in (0.09, 0.1, 0.19, 0.2)] == [
        Severity.LOW, Severity.MEDIUM, Severity.MEDIUM, Severity.HIGH,
    ]  # fmt: skip
    assert graded(0.0, 0.2) == Severity.MEDIUM


@pytest.mark.parametrize(("devices", "deferred"), [((), False), (("cpu",), True), (("cpu", "mps:0"), False)])
def test_reads_on_a_host_are_deferred_where_the_weights_are_there(devices: tuple[str, ...], deferred: bool) -> None:
    source = (
        "total = 0.0\nfor x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n"
        "    opt.step()\n    total += loss.item()\n"
    )
    optimizers = tuple(Optimizer(name="SGD", parameters=2, elements=9, device=each) for each in devices)
    builder = TraceBuilder().context(cell=Cell(source=source, filename="cell"), optimizers=optimizers)
    for at in range(0, 5000, 1000):
        builder.step(at, 1000).operator("aten::mm", at + 10, 500)
        builder.operator("aten::item", at + 600, 50).operator("aten::_local_scalar_dense", at + 610, 30)
    answer = check("sync_in_step", builder.build())
    assert answer is not None
    assert (answer.diff is not None) is deferred


def test_the_curve_in_figures() -> None:
    """Each read less spares the host 100 µs of ten steps; without any it runs on while the device works."""
    curve = "1: 100 µs, 2: 200 µs, 4: 400 µs, all 5: 4.99 ms"
    assert found(steps(5)).evidence["saving_by_places_removed"] == curve


@pytest.mark.parametrize(("turns", "grown"), [(9, False), (10, True)])
def test_ten_cats_in_a_row_are_growth(turns: int, grown: bool) -> None:
    assert (check("tensor_grown_by_cat", evaluation(turns).build()) is not None) is grown


def test_diffs_that_save_time_outside_the_steps_are_measured_to_the_end_of_the_cell() -> None:
    """What is before and after the loop: passes, workers, memory that is kept, and what a loop without steps grows."""
    whole = {each.name for each in all_rules() if each.whole_cell}
    assert whole == {
        "grad_in_inference",
        "memory_kept_by_hooks_or_graphs",
        "tensor_grown_by_cat",
        "workers_oversubscribed",
        "workers_restarted",
    }
