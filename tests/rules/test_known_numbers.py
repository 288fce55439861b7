"""Tables of known numbers: versions, capabilities, lanes, and what is left of an optimizer's time."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.kernels.step_likeness import StepLikeness
from gpuprof.analyses.training.optimizer_steps import OptimizerSteps
from gpuprof.model.context import Optimizer
from gpuprof.model.device import Device
from gpuprof.model.intervals import EMPTY
from gpuprof.rules.base.finding import Finding, Saving, Severity
from gpuprof.rules.compiler.compilability import can_compile
from gpuprof.rules.device.pcie_link_degraded import _rate
from gpuprof.rules.kernels.float64_compute import _is_slow
from gpuprof.rules.saving.retimed import retimed
from gpuprof.rules.saving.run_variation import spread_of_the_rest
from gpuprof.rules.training.unfused_optimizer import _Case
from gpuprof.whatif.changes.graph_edits import GraphEdit, scale
from gpuprof.whatif.graph.nodes import NodeKind
from tests.analyses.kernels.test_step_likeness import steps
from tests.rules.compiler.test_compilability import LINUX, results
from tests.rules.kernels.test_float64_on_cpu import found as on_cpu
from tests.rules.kernels.test_float64_on_cpu import training
from tests.rules.saving.test_run_variation import run
from tests.support.trace_builder import TraceBuilder
from tests.whatif.programs import run as program


@pytest.mark.parametrize(
    ("python", "oldest", "too_old"),
    [("3.11.2", "2.2.0", "2.1.2"), ("3.12.1", "2.4.0", "2.3.1"), ("3.13.0", "2.6", "2.5.1"), ("3.14.0", "2.10", "2.9")],
)
def test_the_oldest_torch_that_compiles(python: str, oldest: str, too_old: str) -> None:
    assert can_compile(results(msgspec.structs.replace(LINUX, python=python, torch=oldest)))
    assert not can_compile(results(msgspec.structs.replace(LINUX, python=python, torch=too_old)))
    assert can_compile(results(capability=(7, 0))) and not can_compile(results(capability=(6, 2)))


@pytest.mark.parametrize(
    ("blocks", "alike"),
    [
        ([4, 4, 4], False),
        ([4, 4, 4, 4], True),
        ([1, 4, 4, 4, 9], True),
        ([1, 2, 4, 4, 4, 4, 4, 9], False),
        ([1, 1, 4, 4], False),
        ([1, 4, 4, 4], True),
        ([4, 4, 4, -1], False),
    ],
)
def test_which_steps_are_alike(blocks: list[int], alike: bool) -> None:
    assert Results(steps(blocks).build()).get(StepLikeness).alike is alike


@pytest.mark.parametrize(
    ("capability", "slow"),
    [
        *(((major, 0), False) for major in (6, 7, 8, 9, 10)),
        *((known, True) for known in ((5, 0), (6, 1), (7, 5), (8, 6), (8, 9), (11, 0), (12, 0))),
        (None, False),
    ],
)
def test_which_devices_are_slow_in_double_precision(capability: tuple[int, int] | None, slow: bool) -> None:
    assert _is_slow(Device(id=0, name="NVIDIA Test", compute_capability=capability)) is slow
    assert not _is_slow(Device(id=0, name="AMD Instinct MI300X", compute_capability=capability))


def test_what_convolutions_in_double_precision_save() -> None:
    """From nothing to 85 % of what is beyond 1.2 µs each."""
    saving = on_cpu(training(501.2, name="aten::mkldnn_convolution")).saving
    assert saving is not None
    assert (saving.low_ns, saving.central_ns, saving.high_ns) == pytest.approx((0, 0.55 * 5e6, 0.85 * 5e6))


@pytest.mark.parametrize(
    ("generation", "gb_per_s"), [(1, 4), (2, 8), (3, 15.76), (4, 31.504), (5, 63.008), (6, 121.008)]
)
def test_what_sixteen_lanes_carry(generation: int, gb_per_s: float) -> None:
    assert _rate(generation, 16) == pytest.approx(gb_per_s * 1e9)
    assert _rate(generation, 1) == pytest.approx(gb_per_s * 1e9 / 16)
    assert _rate(generation, 0) is _rate(generation, None) is _rate(generation, -1) is _rate(7, 16) is None


@pytest.mark.parametrize(
    ("name", "on_device", "passes", "left"),
    [
        ("Adam", False, False, (0.4, 0.25, 0.1)),
        ("AdamW", False, False, (0.4, 0.25, 0.1)),
        ("Adagrad", False, False, (0.65, 0.4, 0.3)),
        ("SGD", False, False, (0.7, 0.5, 0.25)),
        ("Adam", True, False, (0.7, 0.4, 0.1)),
        ("Adam", True, True, (0.8, 0.5, 0.3)),
    ],
)
def test_what_a_fused_step_takes(name: str, on_device: bool, passes: bool, left: tuple[float, float, float]) -> None:
    def case(parameters: int) -> _Case:
        known = Optimizer(name=name, parameters=parameters, elements=100)
        builder = TraceBuilder().context(optimizers=(known,)).optimizer_step(name, 0, 10).operator("aten::add", 0, 9)
        use = Results(builder.build()).get(OptimizerSteps).primary
        assert use is not None
        return _Case(use, EMPTY, EMPTY, 100, on_device, passes)

    assert case(8).left == left
    few = left if on_device else tuple(part + 0.13 for part in left)
    assert case(7).left == pytest.approx(few)


@pytest.mark.parametrize(
    ("lengths_us", "spread"),
    [
        ([1000, 1900, 1000, 1000], 0.3),  # of four steps the first may be warm-up
        ([1000, 3000, 1000, 3000, 1000, 3000], 0.5),
        ([1000, 1700, 1000, 1700, 1000, 1700], 0.3),
        ([1000, 2000, 1000, 2000, 1000, 2000], pytest.approx(1000 / 3000)),
    ],
)
def test_steps_that_vary_leave_at_least_three_tenths_and_at_most_half(lengths_us: list[int], spread: float) -> None:
    assert spread_of_the_rest(Results(run(lengths_us))) == spread


def claimed(saved_us: float) -> Finding:
    saving = Saving(0, saved_us * 1000, saved_us * 1000, 0.5, "C", "")
    return Finding("input_stall", Severity.HIGH, "", "It is so.", {}, "", saving=saving)


def host_scaled(factor: float) -> GraphEdit:
    return lambda graph: scale(graph, graph.select(NodeKind.HOST_GAP), factor)


@pytest.mark.parametrize(
    ("factor", "severity", "saved"),
    [
        (0.97, Severity.LOW, True),  # 1.5 % of the run
        (0.93, Severity.MEDIUM, True),  # 3.5 %
        (0.81, Severity.MEDIUM, True),  # 9.5 %
        (0.79, Severity.HIGH, True),  # 10.5 %
        (1.0, Severity.LOW, False),
    ],
)
def test_what_re_timing_leaves_of_a_severity(factor: float, severity: Severity, saved: bool) -> None:
    """Steps of 600 µs, of which the host works 300 before it launches and waits."""
    replayed = Results(program([("work", 300), ("kernel", 7, 282), ("sync_all",)] * 10))
    found = retimed(replayed, claimed(10), host_scaled(factor), "simulated")
    assert found.severity == severity
    assert (found.saving is not None) is saved


@pytest.mark.parametrize(("claimed_us", "said"), [(1199, False), (1210, True)])
def test_much_less_than_was_claimed_is_said(claimed_us: float, said: bool) -> None:
    """A fifth of the host's 3 ms is 600 µs: half of 1200."""
    replayed = Results(program([("work", 300), ("kernel", 7, 282), ("sync_all",)] * 10))
    found = retimed(replayed, replace(claimed(claimed_us)), host_scaled(0.8), "simulated", rest="it waits")
    assert ("As recorded, the change alone saves only 600 µs: it waits." in found.explanation) is said
