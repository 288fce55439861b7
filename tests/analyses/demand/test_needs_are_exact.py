"""What an operator is said to need is what its result depends on: by spoiling one element of an argument at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gpuprof.analyses.demand.need import Need, box
from gpuprof.analyses.demand.transfer import Applied, needs_of

torch = pytest.importorskip("torch")

Run = Callable[..., Any]
Made = tuple[str, list[tuple[int, ...]], list[Any] | None, Run, int]
"""Name, shapes of its tensors, arguments, the operator, and of how many axes of its result a part may be needed."""
SIZE = st.integers(1, 3)
SEVERAL = st.integers(2, 3)


def _sizes(data: st.DataObject, count: int) -> tuple[int, ...]:
    return tuple(data.draw(SIZE) for _ in range(count))


def _sum_of_two(data: st.DataObject) -> Made:
    """One of the two may be broadcast."""
    shape = _sizes(data, data.draw(SEVERAL))
    other = tuple(1 if data.draw(st.booleans()) else each for each in shape)[data.draw(st.integers(0, len(shape))) :]
    name, run = data.draw(st.sampled_from((("add.Tensor", torch.add), ("mul.Tensor", torch.mul))))
    shapes = [shape, other] if data.draw(st.booleans()) else [other, shape]
    return name, shapes, None, run, len(shape)


def _along(data: st.DataObject) -> Made:
    shape = _sizes(data, 3)
    axis = data.draw(st.integers(-3, 2))
    if data.draw(st.booleans()):
        return "sum.dim_IntList", [shape], [None, [axis], True], lambda x: x.sum(axis, keepdim=True), 3
    return "_softmax", [shape], [None, axis, False], lambda x: x.softmax(axis), 3


def _reduced(data: st.DataObject) -> Made:
    shape = _sizes(data, 3)
    axes = sorted(data.draw(st.sets(st.integers(-3, -1), min_size=1, max_size=2)))
    return "mean.dim", [shape], [None, axes, False], lambda x: x.mean(axes), 3 - len(axes)


def _normed(data: st.DataObject) -> Made:
    shape = (*_sizes(data, 2), data.draw(SEVERAL))
    last = list(shape[-data.draw(st.integers(1, 2)) :])
    norm = torch.nn.functional.layer_norm
    return "native_layer_norm", [shape], [None, last, None, None, 1e-5], lambda x: norm(x, last), 3 - len(last)


def _product(name: str, run: Run) -> Callable[[st.DataObject], Made]:
    def made(data: st.DataObject) -> Made:
        rows, inner, columns, batch = (data.draw(SEVERAL) for _ in range(4))
        one, other, bias = (rows, inner), (inner, columns), (rows, columns)[data.draw(st.integers(0, 1)) :]
        shapes: dict[str, list[tuple[int, ...]]] = {
            "bmm": [(batch, *one), (batch, *other)],
            "matmul": [(batch, *one), (1, *other)],
            "addmm": [bias, one, other],
            "linear": [(batch, *one), other[::-1]],
            "cdist": [one, other[::-1]],
            "mv": [one, other[:1]],
        }
        return name, shapes.get(name, [one, other]), None, run, 3 if name in ("bmm", "matmul", "linear") else 2

    made.__name__ = name
    return made


PRODUCTS: dict[str, Run] = {
    "mm": torch.mm,
    "bmm": torch.bmm,
    "matmul": torch.matmul,
    "addmm": torch.addmm,
    "linear": torch.nn.functional.linear,
    "cdist": torch.cdist,
    "mv": torch.mv,
}


def _joined(data: st.DataObject) -> Made:
    shape, axis = _sizes(data, 2), data.draw(st.integers(-2, 1))
    other = list(shape)
    other[axis] = data.draw(SIZE)
    if data.draw(st.booleans()):
        return "stack", [shape] * 2, [[None] * 2, axis], lambda *each: torch.stack(each, axis), 3
    return "cat", [shape, tuple(other)], [[None] * 2, axis], lambda *each: torch.cat(each, axis), 2


def _samples(data: st.DataObject) -> Made:
    """Of images only samples, and in pools channels, are told apart."""
    batch, channels, made = (data.draw(SEVERAL) for _ in range(3))
    functions = torch.nn.functional
    if data.draw(st.booleans()):
        return "max_pool2d", [(batch, channels, 4, 2)], None, lambda x: functions.max_pool2d(x, 2), 2
    shapes: list[tuple[int, ...]] = [(batch, channels, 3, 3), (made, channels, 3, 3)]
    return "convolution", shapes, None, lambda x, w: functions.conv2d(x, w, padding=1), 1


def _attention(data: st.DataObject) -> Made:
    batch, heads, queries, keys = _sizes(data, 4)
    shapes = [(batch, heads, queries, 2), (batch, heads, keys, 2), (batch, heads, keys, 2)]
    return "scaled_dot_product_attention", shapes, None, lambda q, k, v: (q @ k.mT).softmax(-1) @ v, 3


KINDS = (_sum_of_two, _along, _reduced, _normed, _joined, _samples, _attention)
KINDS += tuple(_product(*each) for each in PRODUCTS.items())


def _needed(data: st.DataObject, shape: tuple[int, ...], parted: int) -> Need:
    """A part of the first axes."""
    axes = []
    for length in shape[:parted]:
        places = data.draw(st.sets(st.integers(0, length - 1), min_size=1))
        axes.append(np.isin(np.arange(length), list(places)))
    return box(shape, (*axes, *[None] * (len(shape) - parted)))


def _mask(need: Need) -> Any:
    whole = np.full(need.shape, need.elements > 0)
    for at, axis in enumerate(need.axes):
        if axis is not None:
            whole &= axis.reshape([-1 if each == at else 1 for each in range(len(need.shape))])
    return whole


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.strip("_"))
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_an_operator_needs_what_its_result_depends_on(kind: Callable[[st.DataObject], Made], data: Any) -> None:
    name, shapes, arguments, run, parted = kind(data)
    tensors = [torch.arange(1.0, 1 + int(np.prod(shape))).reshape(shape).cos() for shape in shapes]
    need = _needed(data, tuple(run(*tensors).shape), parted)
    wanted = _mask(need)
    found = needs_of(Applied(f"aten::{name}", tuple(shapes), arguments, (need,)))
    for position, shape in enumerate(shapes):
        matters = np.zeros(shape, bool)
        for element in np.ndindex(*shape):
            spoiled = [each.clone() for each in tensors]
            spoiled[position][element] = float("nan")
            matters[element] = bool((torch.isnan(run(*spoiled)).numpy() & wanted).any())
        assert (matters == _mask(found[position])).all(), (name, shapes, arguments, position)
        assert found[position].elements == matters.sum(), (name, shapes, arguments, position)
