"""Conversions on the host whose results are copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.widened_copies import WidenedCopies
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

TYPES = '["float", "unsigned char", "Bool"]'


def of(types: str, *, launches: bool = False, bytes: int = 1 << 18) -> WidenedCopies:
    builder = TraceBuilder().step(0, 100).operator("aten::copy_", 0, 10, dims="[[65536], [65536], []]", types=types)
    if launches:
        builder.kernel("convert", 5, 5, launch_at_us=1, launch_for_us=2)
    builder.copy("h2d", 30, 10, bytes=bytes, launch_at_us=20)
    return Results(builder.build()).get(WidenedCopies)


def test_equal_bytes_in_one_step_are_the_same_data() -> None:
    widened = of(TYPES)
    assert (widened.copies.tolist(), widened.narrower.tolist()) == ([0], [0.25])
    assert (widened.from_type, widened.to_type) == ("unsigned char", "float")


@pytest.mark.parametrize(
    "widened",
    [
        of('["float", "float", "Bool"]'),
        of('["unsigned char", "float", "Bool"]'),
        of(TYPES, launches=True),
        of(TYPES, bytes=(1 << 18) + 4),
    ],
    ids=["as wide", "narrowed", "on the device", "other bytes"],
)
def test_anything_else_is_not(widened: WidenedCopies) -> None:
    assert (widened.shapes, len(widened.copies)) == (True, 0)


def test_the_images_of_a_real_run_are_found(shared_trace: Callable[[str], Any]) -> None:
    """32 images of 224 × 224 are converted in each of its six steps, one by one, and copied as one batch."""
    results = Results(shared_trace("v100-resnet50-workers0"))
    widened = results.get(WidenedCopies)
    assert results.get(Copies).table["bytes"][widened.copies].tolist() == [32 * 3 * 224 * 224 * 4] * 6


def test_without_shapes_nothing_is_known(empty_trace: Trace) -> None:
    assert not Results(empty_trace).get(WidenedCopies).shapes
