"""Tensors that grow, by the shapes or by the cell's lines, and what that costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.grown_tensors import GrownTensors
from gpuprof.model.context import Cell
from gpuprof.model.trace import Trace
from tests.support.trace_builder import TraceBuilder

SOURCE = "v = torch.empty(0, 4)\nfor x in rows:\n    y = model(x)\n    v = torch.cat([v, y])\n{}\n"


def grown(trace: Trace) -> GrownTensors:
    return Results(trace).get(GrownTensors)


def loop(turns: int, *, shapes: bool = True, source: str | None = None, lines: bool = False) -> TraceBuilder:
    """Turns of 100 µs, one cat of 10 µs in each; `lines`: line 3 and line 4 were followed."""
    builder = TraceBuilder().context(cell=Cell(source=source) if source else None)
    for turn in range(turns):
        at = 100 * turn
        if lines:
            builder.line(3, at).line(4, at + 50)
        builder.operator("aten::linear", at, 40)
        builder.operator("aten::cat", at + 50, 10, dims=f"[[[{turn}, 4], [1, 4]], []]" if shapes else None)
    return builder


def test_ten_turns_are_needed() -> None:
    (found,) = grown(loop(10).build()).tensors
    assert (found.cats.tolist(), found.dimension, found.shape, found.lines) == (list(range(10)), 0, (10, 4), ())
    assert grown(loop(9).build()).tensors == ()


def test_the_line_is_the_one_that_was_followed_or_the_only_one_in_the_source() -> None:
    assert [each.lines for each in grown(loop(12, lines=True).build()).tensors] == [(4,)]
    assert [each.lines for each in grown(loop(12, source=SOURCE.format("")).build()).tensors] == [(4,)]


@pytest.mark.parametrize("lines", [True, False])
def test_what_python_reads_in_the_loop_is_used(lines: bool) -> None:
    source = SOURCE.format("    show(v.numpy())")
    assert grown(loop(12, source=source, lines=lines).build()).tensors == ()


def test_without_shapes_the_followed_line_is_enough() -> None:
    found = grown(loop(12, shapes=False, source=SOURCE.format(""), lines=True).build())
    assert found.known
    assert [(len(each.cats), each.shape, each.lines) for each in found.tensors] == [(12, None, (4,))]


@pytest.mark.parametrize(
    ("source", "lines"),
    [(SOURCE.format(""), False), (None, True), ("for x in y:\n    pass\n", True)],
    ids=["no lines", "no source", "no such line"],
)
def test_without_shapes_and_a_certain_line_nothing_is_known(source: str | None, lines: bool) -> None:
    found = grown(loop(12, shapes=False, source=source, lines=lines).build())
    assert (found.known, found.tensors, len(found.cats)) == (False, (), 12)


def test_without_shapes_the_cats_of_a_model_in_the_same_line_are_not_told_apart() -> None:
    source = "v = torch.empty(0, 4)\nfor x in rows:\n\n    v = torch.cat([v, model(x)])\n"
    builder = loop(12, shapes=False, source=source, lines=True)
    for turn in range(12):
        builder.operator("aten::cat", 100 * turn + 70, 10)
    assert not grown(builder.build()).known


def test_on_a_device_its_kernels_are_the_cost() -> None:
    builder = loop(10)
    for turn in range(5):
        builder.kernel("CatArrayBatchedCopy", 100 * turn + 60, 30, launch_at_us=100 * turn + 52)
    builder.kernel("gemm", 0, 5, launch_at_us=1)
    found = grown(builder.build())
    assert found.cost_ns.tolist() == [30_000] * 5 + [10_000] * 5
    assert found.kernels.tolist() == [-1, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("source", [None, SOURCE.format("")])
@pytest.mark.parametrize("compiled", [True, False])
def test_what_no_operator_shows_may_use_the_tensor_unless_the_source_tells(source: str | None, compiled: bool) -> None:
    builder = loop(12, source=source)
    if compiled:
        builder.operator("Torch-Compiled Region: 0/0", 20, 10)
    else:
        builder.kernel("triton_attention", 80, 5, launch_at_us=75)
    assert len(grown(builder.build()).tensors) == (source is not None)


def test_cats_of_backward_and_of_other_threads_do_not_count() -> None:
    builder = TraceBuilder()
    for turn in range(12):
        builder.operator("CatBackward0", 100 * turn, 20)
        builder.operator("aten::cat", 100 * turn + 1, 10, dims=f"[[[{turn}, 4], [1, 4]], []]")
    builder.thread("worker").operator("aten::cat", 3, 5, dims="[[[0, 4], [1, 4]], []]")
    assert len(grown(builder.build()).cats) == 0


def test_every_trace_is_stood(any_shared_trace: Any, empty_trace: Trace) -> None:
    for trace in (any_shared_trace, empty_trace):
        found = grown(trace)
        assert found.cost_ns.shape == found.cats.shape
        assert np.all(found.kernels < max(len(found.cats), 1))
