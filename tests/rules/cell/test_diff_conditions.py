"""When rules leave it at words although the cell could be changed, and which of several changes they choose."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell, Environment
from gpuprof.model.device import Device
from gpuprof.model.memory import Composition, ModuleBytes
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule
from tests.code_edits.executed import TRAINING, line_of
from tests.code_edits.models.test_modules import IMAGES
from tests.rules.cases import case_of
from tests.rules.cell.executed_cells import EXECUTED
from tests.rules.test_lines import with_lines
from tests.support.trace_builder import TraceBuilder


def diff_of(name: str, trace: Trace | None = None, devices: Any = None, **context: Any) -> str | None:
    """The diff of the rule's executed cell, with other facts than there."""
    executed = EXECUTED[name]
    trace = trace or case_of(name).fires()
    context = {**executed.context, "cell": Cell(source=executed.cell), **context}
    trace = dataclasses.replace(trace, context=msgspec.structs.replace(trace.context, **context))
    devices = executed.devices if devices is None else devices
    trace = dataclasses.replace(trace, devices=devices) if devices else trace
    found = rule(name).check(Results(trace))
    assert isinstance(found, Finding), found
    return found.diff


OLD = (Device(id=0, name="Tesla P100", compute_capability=(6, 0), memory_bytes=16 << 30),)
VOLTA = (Device(id=0, name="Tesla V100", compute_capability=(7, 0), memory_bytes=16 << 30),)


def test_graphs_need_a_machine_that_compiles_and_steps_that_are_alike() -> None:
    assert diff_of("launch_bound") is not None
    assert diff_of("launch_bound", devices=OLD) is None
    assert diff_of("launch_bound", environment=Environment(system="Windows")) is None
    trace = case_of("launch_bound").fires()
    blocks = trace.device_events["blocks"].copy()
    blocks[:] = range(len(blocks))
    varying = dataclasses.replace(
        trace, tables={**trace.tables, "device_events": trace.device_events.replace(blocks=blocks)}
    )
    assert diff_of("launch_bound", varying) is None


@pytest.mark.parametrize(
    ("text", "given"),
    [("out = model(x)", True), ("loss.backward()", False), ("opt.step()", False), (None, False)],
)
def test_the_model_is_compiled_only_where_the_chains_are_its_own(text: str | None, given: bool) -> None:
    trace = case_of("unfused_pointwise").fires()
    if text is not None:
        trace = with_lines(trace, (0, line_of(TRAINING, text)))
    assert (diff_of("unfused_pointwise", trace) is not None) is given


def images(dims: str | None, *others: str) -> Trace:
    from tests.rules.cases.kernels.nchw_convolution import BACK, THERE

    builder = TraceBuilder().operator("aten::to", 0, 5, dims=dims).operator("aten::cudnn_convolution", 6, 24)
    builder.copy("h2d", 4, 2, bytes=1 << 20, launch_at_us=1, launch_for_us=2)
    for name in others:
        builder.operator(name, 31, 1)
    convolution = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"
    builder.kernel(THERE, 12, 100, launch_at_us=7, launch_for_us=1).kernel(THERE, 112, 100, launch_at_us=9)
    builder.kernel(convolution, 212, 700, launch_at_us=15).kernel(BACK, 912, 100, launch_at_us=21)
    return builder.sync(40, 970).build()


@pytest.mark.parametrize(
    ("trace", "layouts"),
    [
        (images("[[32, 3, 224, 224], []]"), 2),
        (images("[[32, 8, 3, 224, 224], []]"), 1),
        (images(None), 1),
        (images("[[32, 3, 224, 224], []]", "aten::conv3d"), 0),
    ],
)
def test_batches_are_laid_out_where_they_are_known_to_be_images(trace: Trace, layouts: int) -> None:
    diff = diff_of("nchw_convolution", trace) or ""
    assert diff.count("memory_format=torch.channels_last") == layouts
    assert IMAGES.count("memory_format") == 0


def test_autocast_needs_wide_products_a_modern_device_and_activations_that_count() -> None:
    assert diff_of("memory_near_limit") is not None
    assert diff_of("memory_near_limit", devices=VOLTA) is None
    assert diff_of("memory_near_limit", compositions=()) is None
    large = Composition(device="cuda:0", parameter_bytes=4 << 30, state_bytes=6 << 30, after_steps=3)
    assert diff_of("memory_near_limit", compositions=(large,)) is None
    trace = case_of("memory_near_limit").fires()
    narrow = dataclasses.replace(
        trace, names=tuple(name.replace("ampere_sgemm", "ampere_bf16_s16816gemm_bf16") for name in trace.names)
    )
    assert diff_of("memory_near_limit", narrow) is None


def test_blocks_are_not_checkpointed_where_norms_would_count_twice_or_another_model_ran() -> None:
    assert diff_of("activations_dominate_peak") is not None
    assert diff_of("activations_dominate_peak", compositions=()) is not None
    trace = case_of("activations_dominate_peak").fires()
    normed = dataclasses.replace(trace, names=(*trace.names, "aten::native_batch_norm"))
    assert diff_of("activations_dominate_peak", normed) is None
    other = Composition(device="cuda:0", modules=(ModuleBytes(name="net.encoder"),))
    assert diff_of("activations_dominate_peak", compositions=(other,)) is None


def test_attention_of_a_library_is_no_matter_of_the_cell() -> None:
    assert diff_of("eager_attention") is not None
    assert diff_of("eager_attention", cell=Cell(source=TRAINING)) is None


def test_who_turned_tf32_off_gets_words() -> None:
    assert diff_of("fp32_matmul", environment=Environment(matmul_precision="highest", tf32_cudnn=False)) is None


def test_only_anomaly_detection_is_switched_off_by_a_diff() -> None:
    assert diff_of("debug_mode_on") is not None
    assert diff_of("debug_mode_on", environment=Environment(anomaly_mode=False)) is None
