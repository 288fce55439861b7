"""What else a rule asks for, besides the share that its case is about: each on both sides."""

from __future__ import annotations

from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader, Optimizer
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.base.rule import Rule
from gpuprof.rules.device.clock_states import clock_saving
from gpuprof.rules.distributed.exposed_collective import ExposedCollective
from gpuprof.rules.host.host_cpu_bound import HostCpuBound
from gpuprof.rules.host.launch_bound import LaunchBound
from gpuprof.rules.loading.input_stall import InputStall
from gpuprof.rules.training.unfused_optimizer import UnfusedOptimizer, _change
from gpuprof.rules.transfers.exposed_h2d_copy import ExposedH2dCopy
from tests.support.trace_builder import TraceBuilder


def check(rule: Rule, trace: Trace) -> Finding | None:
    answer = rule.check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def optimizer(
    pieces: int = 120,
    *,
    name: str = "Adam",
    operator: str = "aten::addcmul_",
    inside: str | None = None,
    parameters: int = 12,
    elements: int = 1200,
    **known: Any,
) -> Trace:
    """Ten steps of 1 ms on a CPU, of which the optimizer takes 240 µs in so many operators."""
    optimizers = (Optimizer(name=name, parameters=parameters, elements=elements, line=5, **known),)
    builder = TraceBuilder().context(optimizers=optimizers).operator("aten::linear", 0, 1)
    each = 240 / pieces
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).optimizer_step(name, at + 500, 240)
        if inside:
            builder.span(inside, at + 510, 1)
        for turn in range(pieces):
            builder.operator(operator, at + 500 + turn * each, each)
    return builder.operator("aten::linear", 9999, 1).build()


@pytest.mark.parametrize(
    ("trace", "saved"),
    [
        (optimizer(), 0.75),
        (optimizer(29), None),
        (optimizer(30), 0.75),
        (optimizer(parameters=60), None),  # two operators for each
        (optimizer(parameters=59), 0.75),
        (optimizer(parameters=8), 0.75),
        (optimizer(parameters=7), 0.62),  # few tensors: 13 % more are left
        (optimizer(name="AdamW"), 0.75),
        (optimizer(name="Adagrad"), 0.6),
        (optimizer(name="SGD", elements=1_200_000), 0.5),
        (optimizer(name="SGD", elements=1_200_001), None),
        (optimizer(name="RMSprop"), None),
        (optimizer(name="SparseAdam"), None),
        (optimizer(device="cpu"), 0.75),
        (optimizer(device="mps:0"), None),
        (optimizer(fused=True), None),
        (optimizer(foreach=True), None),
        (optimizer(operator="aten::_fused_adam_"), None),
        (optimizer(operator="aten::_foreach_add_"), None),
        (optimizer(inside="Optimizer.zero_grad#Adam.zero_grad"), None),
    ],
)
def test_which_optimizers_gain_from_fused_steps(trace: Trace, saved: float | None) -> None:
    found = check(UnfusedOptimizer(), trace)
    if saved is None:
        assert found is None
    else:
        assert found is not None and found.saving is not None
        assert found.saving.central_ns == pytest.approx(2_400_000 * saved)


@pytest.mark.parametrize(
    ("name", "on_device", "words"),
    [
        ("Adam", False, "Make it `Adam(..., fused=True)`."),
        ("Adagrad", False, "Make it `Adagrad(..., fused=True)`."),
        ("Adagrad", True, "Make it `Adagrad(..., foreach=True)`, which updates all tensors together."),
        ("SGD", True, "Make it `SGD(..., fused=True)`."),
        ("RMSprop", True, "Make it `RMSprop(..., foreach=True)`, which updates all tensors together."),
        (
            "Mine",
            True,
            "Update lists of tensors with the `torch._foreach_` functions instead of looping over parameters.",
        ),
    ],
)
def test_what_is_advised_for_an_optimizer(name: str, on_device: bool, words: str) -> None:
    assert _change(name, on_device=on_device) == words


def paced(kernels: int, *, pause_us: float = 0, ahead: int = 0) -> Trace:
    """Kernels of 6 µs every 20 µs, launched 14 µs before; in the middle a pause. `ahead`: launched so many earlier."""
    builder, middle = TraceBuilder(), kernels // 2
    for number in range(kernels):
        at = 20 * number + (pause_us if number >= middle else 0)
        launched = 20 * (number - ahead) + (pause_us if number - ahead >= middle else 0)
        builder.kernel("add", 100 + at + 14, 6, launch_at_us=max(100 + launched, number / 10), launch_for_us=0.05)
    end = 100 + 20 * kernels + pause_us
    return builder.operator("aten::linear", 0, end).step(0, end).sync(end - 4, 4).build()


@pytest.mark.parametrize(
    ("trace", "found"),
    [
        (paced(39), False),
        (paced(40), True),
        (paced(60, ahead=1), True),
        (paced(60, ahead=3), False),
        (paced(60, pause_us=900), True),
        (paced(60, pause_us=5000), False),  # the short gaps are less than a fifth of it then
    ],
)
def test_what_shows_that_the_host_launches_too_slowly(trace: Trace, found: bool) -> None:
    assert (check(LaunchBound(), trace) is not None) is found


def gapped(steps: int = 10, *, with_gap: int = 10, gap_us: float = 3000, cpu_percent: float = 99) -> Trace:
    """Steps of 10 ms, the last `with_gap` of which begin with Python's own work."""
    builder = TraceBuilder()
    for number in range(steps):
        at, gap = 10_000 * number, gap_us if number >= steps - with_gap else 10
        builder.step(at, 10_000).operator("aten::mm", at + gap, 20)
        builder.kernel("gemm", at + gap, 10_000 - gap, launch_at_us=at + gap)
        builder.host_sample(at + 5_000, cpu_percent=cpu_percent)
    return builder.operator("aten::empty", 0, 1).build()


@pytest.mark.parametrize(
    ("trace", "severity"),
    [
        (gapped(3), None),  # the first step is warm-up
        (gapped(4), Severity.HIGH),
        (gapped(with_gap=4), None),
        (gapped(with_gap=5), Severity.MEDIUM),
        (gapped(gap_us=2999), Severity.MEDIUM),
    ],
)
def test_which_gaps_are_a_habit(trace: Trace, severity: Severity | None) -> None:
    found = check(HostCpuBound(), trace)
    assert (found.severity if found else None) == severity


@pytest.mark.parametrize(("percent", "waits"), [(49, True), (50, False)])
def test_a_host_that_waits_itself_is_advised_to_read_ahead(percent: float, waits: bool) -> None:
    found = check(HostCpuBound(), gapped(cpu_percent=percent))
    assert found is not None
    assert found.change.startswith("Let another process or thread read ahead") is waits


def prefetched(wait_us: float) -> Trace:
    """Steps of 1 ms: a wait for data with the device idle, a pinned copy of 100 µs, a kernel."""
    builder = TraceBuilder()
    for at in range(0, 10_000, 1000):
        builder.step(at, 1000).data_wait(at, wait_us).operator("aten::stack", at, wait_us)
        begin = at + wait_us
        builder.copy("h2d", begin + 8, 100, host_memory="pinned", launch_at_us=begin)
        builder.kernel("gemm", begin + 109, 880 - wait_us, launch_at_us=begin + 10).sync(begin + 20, 975 - wait_us)
    return builder.build()


@pytest.mark.parametrize(("wait_us", "found"), [(0, True), (36, True), (50, False), (60, False)])
def test_copies_are_not_the_bottleneck_where_data_are(wait_us: float, found: bool) -> None:
    """From 5 % of the step on; before the wait the device is idle for some µs more."""
    assert (check(ExposedH2dCopy(), prefetched(wait_us)) is not None) is found


def exchanged(*, small: int, small_us: float, large_us: float) -> str:
    """Steps of 1 ms with so many short collectives and a long one of another kind, beside no compute."""
    builder = TraceBuilder()
    for at in range(0, 3000, 1000):
        builder.step(at, 1000).kernel("gemm", at, 300)
        for number in range(small):
            begin = at + 300 + number * (small_us + 0.1)
            builder.kernel("ncclDevKernel_AllReduce_Sum(ncclArgs)", begin, small_us, stream=9)
        builder.kernel("ncclDevKernel_AllGather(ncclArgs)", at + 1000 - large_us, large_us, stream=9)
    found = check(ExposedCollective(), builder.build())
    assert found is not None
    return f"{found.explanation} {found.change}"


def test_collectives_are_told_by_the_kind_that_takes_most_time() -> None:
    assert "`ncclDevKernel_AllReduce_Sum`" in exchanged(small=4, small_us=50, large_us=100)
    assert "`ncclDevKernel_AllGather`" in exchanged(small=4, small_us=50, large_us=300)


@pytest.mark.parametrize(
    ("slow", "free", "saved_us"), [(1200, 1500, 20), (1500, 1500, None), (1600, 1500, None), (None, 1500, None)]
)
def test_what_lowered_clocks_cost(slow: float | None, free: float, saved_us: float | None) -> None:
    """Of 200 µs of kernels, half of them at the lower clock."""
    results = Results(TraceBuilder().kernel("gemm", 0, 200).build())
    saving = clock_saving(results, 0.5, slow, free)
    assert (saving.central_ns / 1000 if saving else None) == (None if saved_us is None else pytest.approx(saved_us))
    assert clock_saving(results, 0.5, 1200, None) is None
    assert clock_saving(Results(TraceBuilder().operator("aten::mm", 0, 9).build()), 0.5, 1200, 1500) is None


def stalled(*waits_ms: float, workers: int = 0) -> Finding | None:
    """Steps of 20 ms on a device, each of which begins with such a wait."""
    loaders = (Loader(workers=workers, line=3),)
    builder = TraceBuilder().context(loaders=loaders, environment=Environment(cores_allowed=4))
    for number, wait_ms in enumerate(waits_ms):
        at, wait = 20_000 * number, wait_ms * 1000
        builder.step(at, 20_000).data_wait(at, wait, workers=workers).operator("aten::stack", at, wait)
        builder.kernel("gemm", at + wait + 6, 19_980 - wait, launch_at_us=at + wait)
        builder.sync(at + wait + 10, 19_980 - wait)
    return check(InputStall(), builder.build())


@pytest.mark.parametrize(
    ("waits_ms", "found"),
    [
        ((2.0,) * 10, True),
        ((2.0,) * 9 + (9.9,), True),  # not five times the median
        ((0.5,) * 9 + (15.0,), False),  # most of the waiting, and thirty times the median
        ((1.5,) * 9 + (13.0,), True),  # less than all the others together
        ((5.0,), False),
        ((5.0, 5.0), True),
    ],
)
def test_one_long_wait_is_chance(waits_ms: tuple[float, ...], found: bool) -> None:
    assert (stalled(*waits_ms) is not None) is found
