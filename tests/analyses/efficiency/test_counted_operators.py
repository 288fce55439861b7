"""Operations by shape are those that torch counts on the same operators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from torch.nn import functional

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.efficiency.counted_operators import CountedOperators
from gpuprof.model.trace import Trace
from tests.analyses.efficiency.recorded import counted_flops, recorded, tensor, torch_flops
from tests.analyses.random_runs import runs
from tests.support.trace_builder import TraceBuilder


def counted(trace: Trace) -> CountedOperators:
    return Results(trace).get(CountedOperators)


def _backward(make: Callable[..., torch.Tensor], *operands: torch.Tensor) -> Callable[[], object]:
    def work() -> None:
        make(*operands).sum().backward()

    return work


def _conv(dimensions: int, given: tuple[int, ...], weight: tuple[int, ...], **options: object) -> Callable[[], object]:
    make = getattr(functional, f"conv{dimensions}d")
    return _backward(lambda x, w: make(x, w, **options), tensor(*given), tensor(*weight))


def _transposed(given: tuple[int, ...], weight: tuple[int, ...], **options: object) -> Callable[[], object]:
    return _backward(lambda x, w: functional.conv_transpose2d(x, w, **options), tensor(*given), tensor(*weight))


WORK: dict[str, Callable[[], object]] = {
    "mm": lambda: tensor(3, 5) @ tensor(5, 7),
    "mm backward": _backward(torch.mm, tensor(3, 5), tensor(5, 7)),
    "addmm": _backward(torch.addmm, tensor(7), tensor(3, 5), tensor(5, 7)),
    "bmm": _backward(torch.bmm, tensor(4, 3, 5), tensor(4, 5, 7)),
    "baddbmm": _backward(torch.baddbmm, tensor(4, 3, 7), tensor(4, 3, 5), tensor(4, 5, 7)),
    "linear": _backward(functional.linear, tensor(3, 5), tensor(7, 5), tensor(7)),
    "linear of three dimensions": _backward(functional.linear, tensor(2, 3, 5), tensor(7, 5), tensor(7)),
    "linear without bias": _backward(functional.linear, tensor(2, 3, 5), tensor(7, 5)),
    "einsum": _backward(lambda a, b: torch.einsum("bij,bkj->bik", a, b), tensor(4, 3, 5), tensor(4, 6, 5)),
    "conv1d": _conv(1, (2, 3, 20), (6, 3, 5), stride=2, padding=1, dilation=2),
    "conv2d": _conv(2, (2, 3, 11, 13), (6, 3, 3, 2), stride=(2, 1), padding=(1, 0)),
    "conv2d same": _conv(2, (2, 3, 11, 13), (6, 3, 3, 3), padding="same"),
    "conv3d": _conv(3, (2, 3, 5, 6, 7), (4, 3, 2, 3, 2)),
    "conv2d of a frozen input": lambda: (
        functional.conv2d(tensor(2, 3, 8, 8, gradient=False), tensor(4, 3, 3, 3)).sum().backward()
    ),
    "transposed": _transposed((2, 6, 5, 4), (6, 3, 3, 2), stride=2, padding=1, output_padding=1),
    "attention written out": lambda: torch.softmax(tensor(2, 4, 5, 8) @ tensor(2, 4, 8, 6), -1) @ tensor(2, 4, 6, 8),
}


@pytest.mark.parametrize("name", WORK)
def test_operations_are_those_that_torch_counts(name: str, tmp_path: Path) -> None:
    found = counted_flops(recorded(WORK[name], tmp_path))
    assert found == torch_flops(WORK[name]) > 0


def test_a_grouped_convolution_is_counted_as_such_backward_too(tmp_path: Path) -> None:
    """torch counts the weight's gradient as if there were no groups."""

    def forward() -> torch.Tensor:
        return functional.conv2d(tensor(2, 6, 9, 9), tensor(9, 2, 3, 3), groups=3, padding=1)

    once = counted_flops(recorded(forward, tmp_path))
    assert once == torch_flops(forward) == 2 * 2 * (9 * 2 * 9) * 81
    assert counted_flops(recorded(lambda: forward().sum().backward(), tmp_path)) == 3 * once
    assert torch_flops(lambda: forward().sum().backward()) == (1 + 1 + 3) * once


def test_both_types_of_autocast_give_one_product_of_the_narrow_type(tmp_path: Path) -> None:
    def work() -> None:
        with torch.autocast("cpu", torch.bfloat16):
            tensor(4, 8) @ tensor(8, 16)

    trace = recorded(work, tmp_path)
    found = counted(trace)
    assert [(found.shapes[shape].element_type, found.shapes[shape].flops) for shape in found.shape.tolist()] == [
        ("c10::BFloat16", 2 * 4 * 8 * 16)
    ]


@pytest.mark.parametrize("name", ["aten::convolution", "aten::_scaled_dot_product_flash_attention"])
def test_without_numbers_nothing_is_guessed(name: str) -> None:
    dims = "[[1, 2, 8, 8], [4, 2, 3, 3], []]" if "conv" in name else "[[1, 2, 8, 8], [1, 2, 8, 8], [1, 2, 8, 8]]"
    found = counted(TraceBuilder().operator(name, 0, 10, dims=dims).build())
    assert (len(found.row), found.products) == (0, 1)


def test_complex_numbers_do_not_count() -> None:
    types = '["c10::complex<float>", "c10::complex<float>"]'
    trace = TraceBuilder().operator("aten::mm", 0, 10, dims="[[2, 3], [3, 4]]", types=types).build()
    assert len(counted(trace).row) == 0


def test_of_operators_within_one_another_the_innermost_counts_and_owns() -> None:
    builder = TraceBuilder().operator("aten::linear", 0, 50, dims="[[2, 3], [4, 3], [4]]", types='["float"]')
    builder.operator("aten::t", 1, 2).operator("aten::addmm", 5, 30, dims="[[4], [2, 3], [3, 4]]").operator("x", 8, 2)
    trace = builder.operator("aten::mul", 60, 5).build()
    found = counted(trace)
    names = [trace.names[name] for name in trace.operators["name"].tolist()]
    assert [names[row] for row in found.row.tolist()] == ["aten::addmm"] and found.products == 1
    owners = found.owners(trace, np.array([names.index(name) for name in ("x", "aten::linear", "aten::mul")] + [-1]))
    assert owners.tolist() == [0, -1, -1, -1]


def test_nothing_recorded_is_empty(empty_trace: Trace) -> None:
    assert counted(empty_trace).products == 0


@given(runs())
def test_no_run_breaks_it(trace: Trace) -> None:
    found = counted(trace)
    assert len(found.row) == len(found.shape) <= found.products
