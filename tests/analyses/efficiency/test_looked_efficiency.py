"""What an iteration calculates by the operators of the close look, and when that is left unknown."""

from __future__ import annotations

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.looked_efficiency import LookedEfficiency
from gpuprof.analyses.efficiency.number_format import NumberFormat
from gpuprof.model.context import Window
from gpuprof.model.trace import Trace
from tests.analyses.efficiency.recorded import torch_flops
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at
from tests.support.trace_builder import TraceBuilder

A100 = "NVIDIA A100-SXM4-40GB"
STEP_US, FLOPS = 10_000, 2 * 64**3


def builder(
    *,
    steps: int = 6,
    products: int = 2,
    device: str = "",
    kernel: str = "ampere_bf16_s16816gemm",
    plain_us: int = 5_000,
) -> TraceBuilder:
    """Recorded steps of 10 ms, with products of 1 ms each; and ten iterations of 5 ms without the recording."""
    made = TraceBuilder()
    made.context(window=Window(end_ns=0, cell_end_ns=10**9, first_step=0, steps_recorded=steps))
    if device:
        made.device(0, device)
    for step in range(steps):
        at = step * STEP_US
        made.step(at, STEP_US, number=step)
        for each in range(products):
            made.operator("aten::mm", at + 100 + each * 2_000, 1_000)
            if device:
                made.kernel(kernel, at + 110 + each * 2_000, 500, launch_at_us=at + 101 + each * 2_000)
    for number in range(10):
        made.iteration(10**6 + number * plain_us, plain_us, plain=True)
    return made


def looked(made: TraceBuilder, *, dtype: str = "float32", device: str = "cpu", **facts: object) -> Trace:
    """Two iterations of two products of 64×64 matrices were looked at."""
    look = LookBuilder(made)
    look.tensor("x", shape=(64, 64), dtype=dtype, device=device)
    for iteration in (0, 1):
        for each in range(2):
            look.operator("aten::mm", 30, reads="x x", makes=f"y{each}", iteration=iteration, arguments="[null, null]")
        look.operator("aten::relu", 20, reads="y0", makes="z", iteration=iteration)
    return look.build(**facts)


def efficiency(trace: Trace) -> LookedEfficiency:
    return Results(trace).get(LookedEfficiency)


def test_an_iteration_has_operations_and_a_rate_by_its_plain_time() -> None:
    found = efficiency(looked(builder()))
    (shape,) = found.shapes
    assert (shape.operator, shape.shapes, shape.number_format) == ("aten::mm", ((64, 64), (64, 64)), NumberFormat.FP32)
    assert (shape.count, shape.flops, found.iteration_flops, found.iterations) == (2, FLOPS, 2 * FLOPS, 2)
    assert found.covered_share == pytest.approx(60 / 80)
    assert found.iteration_ns == 5e6 and found.flops_per_s == pytest.approx(2 * FLOPS / 5e-3)
    assert found.running_ns == 2e6 and found.running_flops_per_s == pytest.approx(2 * FLOPS / 2e-3)
    assert (found.on_device, found.peak_flops_per_s, found.mfu, found.uncounted) == (False, None, None, 0)


def test_products_that_the_recording_slows_have_no_rate_of_their_own() -> None:
    """GIVEN iterations that take no longer without the recording than the products alone take with it."""
    assert efficiency(looked(builder(plain_us=2_000))).running_flops_per_s is not None
    found = efficiency(looked(builder(plain_us=1_999)))
    assert found.running_flops_per_s is None and found.flops_per_s is not None


def test_a_known_device_has_a_share_of_its_peak() -> None:
    found = efficiency(looked(builder(device=A100), dtype="bfloat16", device="cuda:0"))
    assert (found.on_device, found.number_format, found.peak_flops_per_s) == (True, NumberFormat.BF16, 312e12)
    assert found.mfu == pytest.approx(2 * FLOPS / 5e-3 / 312e12)
    assert found.running_ns == 1e6


@pytest.mark.parametrize(
    ("kernel", "number_format"),
    [("ampere_sgemm_128x64", NumberFormat.FP32), ("ampere_tf32_s1688gemm", NumberFormat.TF32), ("gemm", None)],
)
def test_what_fp32_tensors_are_multiplied_in_the_kernels_tell(kernel: str, number_format: NumberFormat | None) -> None:
    found = efficiency(looked(builder(device=A100, kernel=kernel), device="cuda:0"))
    assert found.number_format is number_format
    assert (found.mfu is None) is (number_format is None)


def test_steps_unlike_those_of_the_look_give_no_rate() -> None:
    found = efficiency(looked(builder(products=3)))
    assert found.iteration_flops == 2 * FLOPS
    assert (found.iteration_ns, found.running_ns, found.flops_per_s) == (None, None, None)


def test_what_no_look_sees_is_ruled_out_by_recorded_steps_alone() -> None:
    assert efficiency(looked(builder(), unseen_writes=1)).flops_per_s is not None
    assert not efficiency(looked(builder(products=3), unseen_writes=1)).shapes


@pytest.mark.parametrize(
    "facts", [{"operators_share": 0.9}, {"operators_share": None}, {"skipped": "it was too short"}]
)
def test_of_a_part_of_an_iteration_nothing_is_said(facts: dict[str, object]) -> None:
    found = efficiency(looked(builder(), **facts))
    assert (found.shapes, found.iterations, found.flops_per_s) == ((), 0, None)


def test_recorded_shapes_come_first() -> None:
    made = builder().operator("aten::mm", 90_000, 10, dims="[[2, 2], [2, 2]]", types='["float", "float"]')
    assert not efficiency(looked(made)).shapes


def test_complex_products_are_not_counted_and_take_the_shares_of_peaks_away() -> None:
    made = looked(builder(device=A100), dtype="complex64", device="cuda:0")
    assert not efficiency(made).shapes
    look = LookBuilder(builder(device=A100))
    look.tensor("x", shape=(64, 64), dtype="bfloat16", device="cuda:0")
    look.tensor("c", shape=(64, 64), dtype="complex64", device="cuda:0")
    for iteration in (0, 1):
        for each in "xc":
            look.operator("aten::mm", 30, reads=f"{each} {each}", makes="y", iteration=iteration)
    found = efficiency(look.build())
    assert (found.uncounted, found.mfu, found.iteration_flops) == (2, None, FLOPS)
    assert found.flops_per_s is not None


def test_a_recurrent_layer_has_no_formula_and_is_not_forgotten() -> None:
    look = LookBuilder(builder())
    look.tensor("x", shape=(64, 64))
    for iteration in (0, 1):
        for _ in range(2):
            look.operator("aten::mm", 30, reads="x x", makes="y", iteration=iteration)
        look.operator("aten::mkldnn_rnn_layer", 300, reads="x x x", makes="z", iteration=iteration)
    found = efficiency(look.build())
    assert (found.uncounted, found.iteration_flops) == (2, 2 * FLOPS)
    assert found.flops_per_s is not None


def test_real_operators_count_as_torch_counts_them() -> None:
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 64, 5)
    )
    pictures = torch.randn(4, 3, 16, 16)

    def step() -> None:
        net(pictures).square().mean().backward()

    def code(look: object) -> None:
        for _ in range(2):
            step()
            look.iteration_ended()  # type: ignore[attr-defined]

    trace = looked_at(code, iterations=2)
    found = efficiency(trace)
    assert found.iteration_flops == torch_flops(step)
    assert found.iterations == 2 and found.flops_per_s is None
