"""What the rules on kernels say in the cases that differ: other hardware, other settings, a late host."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Environment, Loader, Window
from gpuprof.model.device import Device
from gpuprof.model.memory import Allocator
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from gpuprof.rules.saving.kernel_time import KernelTime
from gpuprof.whatif.predict import Replay
from tests.rules.cases import case_of
from tests.rules.cases.kernels.float64_compute import _kernels as double_precision
from tests.rules.cases.training.grad_in_inference import _passes as inference
from tests.support.trace_builder import TraceBuilder

GIB = 1 << 30
ON_KERNELS = (
    "conv_autotune_off",
    "conv_bias_before_norm",
    "eager_attention",
    "float64_compute",
    "nchw_convolution",
    "unaligned_gemm_shape",
    "unfused_pointwise",
    "weights_bound_inference",
)


def finding(name: str, trace: Trace) -> Finding:
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found


@pytest.mark.parametrize("name", ON_KERNELS)
def test_kernels_are_no_matter_where_the_host_is_late(name: str) -> None:
    """GIVEN the case, and the same kernels with a host that takes a hundred times as long from one to the next."""
    trace = case_of(name).fires()
    late = _slower_host(trace, 100)
    assert isinstance(rule(name).check(Results(trace)), Finding)
    assert rule(name).check(Results(late)) is None


def _slower_host(trace: Trace, factor: int) -> Trace:
    """Everything begins `factor` times as late; kernels and their launches take as long as before."""
    tables = {}
    for name, table in trace.tables.items():
        if "start_ns" not in table.to_dict():
            tables[name] = table
            continue
        start = trace.span_start_ns + factor * (table["start_ns"] - trace.span_start_ns)
        lasts = 1 if name in ("device_events", "calls") else factor
        tables[name] = table.replace(start_ns=start, duration_ns=lasts * table["duration_ns"])
    end = trace.span_start_ns + factor * trace.span_ns
    return Trace(**{**vars(trace), "tables": tables, "span_end_ns": end})


@pytest.mark.parametrize(("wait", "decides"), [("data", True), ("host", False)])
def test_waiting_for_data_leaves_kernels_their_weight(wait: str, decides: bool) -> None:
    """A loader without workers loads after the device has finished: there faster kernels do help."""
    builder = TraceBuilder().operator("aten::mm", 0, 1000).kernel("gemm", 0, 200, launch_at_us=0)
    if wait == "data":
        builder.data_wait(200, 700)
    compute = KernelTime.of(Results(builder.kernel("gemm", 900, 100, launch_at_us=899).build()))
    assert compute is not None
    assert compute.computes is decides


def test_double_precision_costs_more_on_a_device_for_games() -> None:
    def most(capability: tuple[int, int]) -> float:
        builder = TraceBuilder().device(0, "NVIDIA Test", compute_capability=capability)
        found = finding("float64_compute", builder.kernel("ampere_dgemm_64x64", 0, 1000, launch_at_us=0).build())
        assert found.saving is not None
        return found.saving.high_ns

    assert most((8, 6)) > most((8, 0)) == 750_000


def test_a_fallback_of_torch_gets_other_advice() -> None:
    builder = TraceBuilder().operator("aten::_scaled_dot_product_attention_math", 0, 40)
    for number, name in enumerate(("aten::bmm", "aten::_softmax", "aten::bmm")):
        builder.operator(name, 10 * number, 9).kernel("k", 100 * number, 100, launch_at_us=10 * number)
    assert "already called" in finding("eager_attention", builder.build()).change


def test_unaligned_sizes_that_were_not_recorded_are_asked_for() -> None:
    name = "cutlass_80_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1"
    trace = TraceBuilder().operator("aten::mm", 0, 9).kernel(name, 0, 900, launch_at_us=0).build()
    assert "--shapes" in finding("unaligned_gemm_shape", trace).explanation


def test_channels_last_needs_a_word_more_on_amd() -> None:
    builder = TraceBuilder().device(0, "AMD Instinct MI300X").operator("aten::miopen_convolution", 0, 9)
    trace = builder.kernel("batched_transpose_16x32_half", 0, 900, launch_at_us=0).build()
    assert "PYTORCH_MIOPEN_SUGGEST_NHWC" in finding("nchw_convolution", trace).change


def test_tensors_that_are_channels_last_already_are_left_in_peace() -> None:
    builder = TraceBuilder().kernel("nhwcToNchwKernel<float>", 0, 500, launch_at_us=0)
    builder.kernel("nhwcToNchwKernel<float>", 500, 400, launch_at_us=10)
    assert rule("nchw_convolution").check(Results(builder.build())) is None


@pytest.mark.parametrize(
    "settings", [{"cudnn_benchmark": True}, {"cudnn_benchmark": False, "deterministic": True}], ids=["on", "repeatable"]
)
def test_autotuning_that_is_on_or_unwanted_is_no_finding(settings: dict[str, bool]) -> None:
    trace = case_of("conv_autotune_off").fires()
    context = type(trace.context)(environment=Environment(**settings))
    assert rule("conv_autotune_off").check(Results(Trace(**{**vars(trace), "context": context}))) is None


def test_kept_activations_matter_where_memory_is_nearly_full() -> None:
    allocator = Allocator(
        device=0,
        allocated_before_bytes=0,
        allocated_after_bytes=0,
        reserved_after_bytes=GIB,
        peak_allocated_bytes=15 * GIB,
        peak_reserved_bytes=15 * GIB,
        retries=0,
        ooms=0,
    )
    builder = inference().device(0, memory_bytes=16 * GIB).context(allocators=(allocator,))
    found = finding("grad_in_inference", builder.kernel("gemm", 0, 10, launch_at_us=0).build())
    assert (found.severity, found.evidence["peak_allocated_bytes"]) == (Severity.MEDIUM, 15 * GIB)


def test_a_cell_that_failed_in_forward_is_no_inference() -> None:
    trace = inference().context(window=Window(ended_by="error")).build()
    assert rule("grad_in_inference").check(Results(trace)) is None


@pytest.mark.parametrize(
    ("capability", "left"),
    [((8, 6), 1 / 32), ((8, 9), 1 / 32), ((7, 5), 1 / 32), ((8, 0), 1 / 4), ((9, 0), 1 / 4), (None, 1 / 4)],
)
@pytest.mark.parametrize("possible", [True, False], ids=["simulated", "by the formula"])
def test_double_precision_takes_a_32nd_in_fp32_where_it_is_slow(
    capability: tuple[int, int] | None, left: float, possible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """800 µs of kernels: at worst they take as long, as a rule half as long."""
    if not possible:
        monkeypatch.setattr(Replay, "possible", False)
    devices = (Device(id=0, name="NVIDIA Test", compute_capability=capability),)
    saving = finding("float64_compute", replace(double_precision(800), devices=devices)).saving
    assert saving is not None
    saved = [ns / 1000 for ns in (saving.low_ns, saving.central_ns, saving.high_ns)]
    assert saved == pytest.approx([0, 800 / 2, 800 * (1 - left)], rel=1e-4)


def test_weights_in_fp32_are_halved_first() -> None:
    builder = TraceBuilder().operator("aten::mm", 0, 9, dims="[[1, 4096], [4096, 4096]]", types='["float", "float"]')
    trace = builder.kernel("gemv2T_kernel_val<int>", 0, 900, launch_at_us=0).build()
    assert "bf16 first" in finding("weights_bound_inference", trace).change


def test_batches_padded_to_their_longest_are_sorted_instead() -> None:
    loader = Loader(workers=0, tokens=500, token_positions=1000, longest_positions=1000)
    builder = TraceBuilder().context(loaders=(loader,)).operator("aten::mm", 0, 900)
    found = finding("padding_waste", builder.build())
    assert "group_by_length" in found.change and "max_length" not in found.change
    assert found.saving is not None and found.saving.low_ns == 0


def test_gradients_are_judged_by_their_kernels_where_the_device_decides() -> None:
    builder = TraceBuilder().span("Optimizer.zero_grad#SGD.zero_grad", 0, 20).operator("aten::zero_", 5, 10)
    builder.kernel("fill", 10, 200, launch_at_us=6)
    found = finding("gradients_zeroed_in_place", builder.kernel("gemm", 210, 790, launch_at_us=16).build())
    # with the 5 µs until the first launch and 4 until it runs, in the range
    assert found.evidence["cost_ms"] == pytest.approx(0.205, abs=0.005)


def test_a_host_that_is_busy_at_first_does_not_silence_what_it_waits_for_later() -> None:
    """Half of the time the host prepares something; then it launches 30 % of products in fp32 and waits for them."""
    builder = TraceBuilder().device(0, "NVIDIA A100-SXM4-80GB", compute_capability=(8, 0))
    builder.operator("aten::mm", 0, 1000).kernel("vectorized_elementwise_kernel", 5, 20, launch_at_us=0)
    builder.kernel("ampere_sgemm_128x64_tn", 650, 340, launch_at_us=640).sync(646, 350)
    results = Results(builder.build())
    compute = KernelTime.of(results)
    assert compute is not None and not compute.computes
    found = rule("fp32_matmul").check(results)
    assert isinstance(found, Finding) and found.severity is Severity.HIGH
    assert found.saving is not None and found.saving.share == pytest.approx(0.34 * 2 / 3, abs=0.02)
