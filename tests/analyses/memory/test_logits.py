"""The scores that a loss is computed from."""

from __future__ import annotations

import json
from typing import Any

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.logits import Logits
from tests.support.trace_builder import TraceBuilder


def logits(builder: TraceBuilder) -> Logits:
    return Results(builder.build()).get(Logits)


def loss(builder: TraceBuilder, at: float, dims: list[int], kind: str) -> TraceBuilder:
    given = {"dims": json.dumps([dims, dims[:1], []]), "types": json.dumps([kind, "long int", ""])}
    return builder.operator("aten::cross_entropy_loss", at, 50, **given)


def test_the_largest_by_its_shape() -> None:
    builder = loss(TraceBuilder(), 0, [128, 10], "float")
    loss(builder, 100, [8192, 50257], "c10::BFloat16").operator("aten::nll_loss_forward", 130, 5)
    found = logits(builder)
    assert (found.rows, found.classes, found.bytes) == (8192, 50257, 8192 * 50257 * 2)
    assert (found.calls, found.shape_known, found.start_ns, found.end_ns) == (2, True, 100_000, 150_000)


def test_classes_stand_second_however_many_dimensions_follow() -> None:
    found = logits(loss(TraceBuilder(), 0, [4, 21, 100, 100], "float"))
    assert (found.rows, found.classes) == (4 * 100 * 100, 21)


def test_without_shapes_the_allocation_of_the_log_softmax_tells() -> None:
    builder = TraceBuilder().operator("aten::_log_softmax", 10, 20).operator("aten::_log_softmax", 50, 20)
    builder.memory(60, 900).memory(12, 700).memory(80, 5000).memory(55, 99, device=None).memory(61, -900)
    found = logits(builder)
    assert (found.calls, found.bytes, found.classes, found.shape_known) == (2, 900, None, False)
    assert found.start_ns == 50_000


def test_unknown_is_unknown() -> None:
    assert logits(TraceBuilder().operator("aten::mm", 0, 5)) == Logits(0)
    assert logits(TraceBuilder().operator("aten::cross_entropy_loss", 0, 5)) == Logits(1)
    assert logits(loss(TraceBuilder(), 0, [8], "float")).bytes is None
    assert logits(loss(TraceBuilder(), 0, [8, 10], "quint4x2")).bytes is None


def test_the_recorded_resnet(shared_trace: Any) -> None:
    found = Results(shared_trace("v100-resnet50-workers0")).get(Logits)
    assert (found.rows, found.classes, found.bytes) == (32, 1000, 128_000)
