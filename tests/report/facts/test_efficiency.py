"""Efficiency in JSON and in one sentence."""

from __future__ import annotations

import json

import msgspec
import pytest
from jsonschema import Draft202012Validator

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Loader, Window
from gpuprof.model.trace import Trace
from gpuprof.report import Report
from gpuprof.report.contract import json_schema, to_dict
from gpuprof.report.facts.efficiency import (
    MOST_SHAPES,
    efficiency_dict,
    efficiency_words,
    rate_dict,
    rate_words,
    used_well,
)
from gpuprof.views.text import render_text
from tests.analyses.efficiency.test_efficiency import A100, BF16, FLOPS, FP32, product
from tests.support.trace_builder import TraceBuilder

CONVOLUTION = {
    "dims": "[[8, 256, 64, 64], [256, 256, 3, 3], [], [], [], [], []]",
    "values": '["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False"]',
}
ATTENTION = {
    "dims": "[[8, 16, 2048, 64], [8, 16, 2048, 64], [8, 16, 2048, 64], [], []]",
    "values": '["", "", "", "0.", "False"]',
}


def words(trace: Trace) -> str:
    return efficiency_words(Results(trace))


def test_the_json_has_sums_and_shapes_and_fits_the_schema() -> None:
    told = to_dict(Report.of(product(TraceBuilder().device(0, A100), 0, 998).build()))
    Draft202012Validator(json.loads(json_schema())).validate(json.loads(json.dumps(told, allow_nan=False)))
    found = told["efficiency"]
    assert (found["flops"], found["running_ms"], found["number_format"]) == (FLOPS, 0.998, "bf16")
    assert (found["peak_flops_per_s"], found["covered_share"], found["missing"]) == (312e12, 1.0, None)
    (shape,) = found["shapes"]
    assert (shape["operator"], shape["shapes"]) == ("aten::mm", [[4096, 4096], [4096, 4096]])
    assert (shape["count"], shape["flops"], shape["ms"]) == (1, FLOPS, 0.998)
    assert shape["peak_share"] == pytest.approx(FLOPS / 998e-6 / 312e12)


def test_the_json_says_what_is_missing_and_is_null_without_products() -> None:
    told = efficiency_dict(Results(product(TraceBuilder(), 0, 100, dims=None).build()))
    assert told is not None and (told["missing"], told["shapes"], told["mfu"]) == ("shapes", [], None)
    assert efficiency_dict(Results(TraceBuilder().operator("aten::add", 0, 10).build())) is None


def test_at_most_fifty_shapes() -> None:
    builder = TraceBuilder().device(0, A100)
    for number in range(MOST_SHAPES + 1):
        product(builder, number * 100, 50, dims=f"[[{number + 1}, 8], [8, 8]]")
    told = efficiency_dict(Results(builder.build()))
    assert told is not None and len(told["shapes"]) == MOST_SHAPES


def test_one_line_of_text_where_the_peak_is_known() -> None:
    trace = product(TraceBuilder().device(0, A100), 0, 998).build()
    sentence = "Matrix products reach 44 % of the bf16 peak while they run; MFU 44 %."
    assert words(trace) == sentence
    assert sentence in " ".join(render_text(Report.of(trace)).split())
    assert words(product(TraceBuilder().device(0, "Test GPU"), 0, 998).build()) == ""
    assert words(TraceBuilder().operator("aten::mm", 0, 9, dims="[[2, 2], [2, 2]]").build()) == ""


def test_what_there_is_and_the_formats_are_named() -> None:
    types = '["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"]'
    attention = "aten::_scaled_dot_product_flash_attention"
    builder = TraceBuilder().device(0, A100).operator(attention, 0, 1, types=types, **ATTENTION)
    builder.kernel("flash_fwd_kernel", 2, 1000, launch_at_us=0.1, launch_for_us=0.5)
    assert words(builder.build()).startswith("Attention reaches 44 % of the bf16 peak while it runs; ")
    builder.operator("aten::convolution", 2000, 1, types=types, **CONVOLUTION)
    builder.kernel("cudnn_convolution_fprop", 2002, 1000, launch_at_us=2000.1, launch_for_us=0.5)
    assert words(builder.build()).startswith("Convolutions and attention reach ")
    product(builder, 4000, 9000, name="ampere_sgemm_128x64", types=FP32)
    found = words(builder.build())
    assert found.startswith("Matrix products, convolutions and attention reach ")
    assert "of the peaks of their formats (bf16, fp32) while" in found
    assert BF16 != FP32


def test_nothing_is_said_of_a_recording_that_cannot_be_judged() -> None:
    trace = product(TraceBuilder().device(0, A100), 0, 998).build()
    report = Report.of(trace)
    assert ("MFU" in render_text(report)) is not report.gate.validity.nothing_holds


def products(for_us: float, device: str = A100) -> Trace:
    """Six steps of one product each, with 10 µs between them."""
    builder = TraceBuilder().device(0, device)
    for number in range(6):
        at = number * (for_us + 10)
        product(builder.step(at, for_us + 10), at, for_us)
    return builder.build()


def test_a_device_that_is_used_well_is_said_to_be() -> None:
    said = Report.of(products(600)).verdict.advice.replace("\u202f", " ").replace("\u00a0", " ")
    assert said.startswith(
        "No rule applies, and the GPU is used well: it is busy 99 % of the time, and reaches 73 % of"
    )
    assert (
        "Whether all of this work is needed was not examined. The largest shares of the device’s work: 100 % aten::mm"
        in said
    )


@pytest.mark.parametrize("trace", [products(998), products(600, "Test GPU"), TraceBuilder().build()])
def test_elsewhere_nothing_of_the_kind_is_said(trace: Trace) -> None:
    assert used_well(Results(trace)) == ""
    assert "used well" not in Report.of(trace).verdict.advice


def test_a_rate_is_told_by_recorded_steps_or_by_those_without_the_recording() -> None:
    # GIVEN batches of 32 with 640 tokens, and ten waits 100 ms from one another; recorded steps take 200 ms
    loader = Loader(
        workers=0,
        batch_size=32,
        batches_read=10,
        wait_start_ns=tuple(i * 100_000_000 for i in range(10)),
        wait_ns=(1,) * 10,
    )
    builder = TraceBuilder().context(loaders=(loader,), window=Window(end_ns=0, cell_end_ns=10**9))
    for number in range(3):
        builder.step(number * 200_000, 200_000).operator("aten::mm", number * 200_000, 10)
    unrecorded = builder.build()
    assert rate_words(Results(unrecorded)) == "320 samples/s"
    told = rate_dict(Results(unrecorded))
    assert told is not None and told["samples_per_s"] == pytest.approx(320) and told["recorded"] is False

    few = msgspec.structs.replace(loader, wait_start_ns=(0, 1), wait_ns=(1, 1), tokens_a_batch=640.0)
    recorded = builder.context(loaders=(few,)).build()
    assert rate_words(Results(recorded)) == "3,200 tokens/s"
    told = rate_dict(Results(recorded))
    assert told is not None and told["samples_per_s"] == pytest.approx(160) and told["recorded"] is True
    assert to_dict(Report.of(recorded))["rate"] == told

    assert rate_dict(Results(TraceBuilder().step(0, 10).build())) is None


def test_the_json_says_how_much_was_examined() -> None:
    told = to_dict(Report.of(product(TraceBuilder().device(0, A100), 0, 998).build()))["examined"]
    assert (told["recorded_share"], told["looked_share"], told["placed_share"], told["left"]) == (1.0, None, None, [])
    assert 0 < told["rules_abstained"] < told["rules"]
