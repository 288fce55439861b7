"""Whatever the analysis calls unneeded may have any value: the result is the same. By real runs of random programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gpuprof.analyses.demand.flow import Flow
from gpuprof.analyses.demand.looked import operators_of, values_of
from gpuprof.analyses.demand.need import in_view
from tests.support.looked_runs import looked_at

torch = pytest.importorskip("torch")


def _square(x: Any) -> Any:
    return x @ x.transpose(-1, -2) if x.dim() >= 2 else x * x


def _normed(x: Any) -> Any:
    return torch.nn.functional.layer_norm(x, x.shape[-1:]) if x.dim() else x


def _written(x: Any) -> Any:
    y = x.clone()
    if y.dim():
        y[..., :1] = y[..., -1:] * 2
    return y


def _taken(x: Any) -> Any:
    return x.index_select(0, torch.tensor([0, x.shape[0] - 1])) if x.dim() else x


# each takes the tensor that the one before has made
ONE: dict[str, Callable[[Any], Any]] = {
    "relu": torch.relu,
    "in place": lambda x: x.clone().mul_(2),
    "part in place": _written,
    "softmax": lambda x: x.softmax(-1) if x.dim() else x,
    "softmax of columns": lambda x: x.softmax(0) if x.dim() else x,
    "norm": _normed,
    "sum": lambda x: x.sum(0) if x.dim() else x,
    "kept sum": lambda x: x.sum(-1, keepdim=True) if x.dim() else x,
    "largest": lambda x: x.max(-1).values if x.dim() else x,
    "product": _square,
    "turned": lambda x: x.transpose(0, -1) if x.dim() >= 2 else x,
    "copied": lambda x: x.transpose(0, -1).contiguous() if x.dim() >= 2 else x,
    "flat": lambda x: x.reshape(-1),
    "first": lambda x: x[0] if x.dim() else x,
    "last column": lambda x: x[..., -1] if x.dim() else x,
    "every second": lambda x: x[::2] if x.dim() else x,
    "diagonal": lambda x: x.diagonal() if x.dim() == 2 else x,
    "expanded": lambda x: x.unsqueeze(0).expand(2, *x.shape) if x.dim() < 3 else x,
    "taken": _taken,
    "stacked": lambda x: torch.stack([x, x * 2]) if x.dim() < 3 else x,
    "joined": lambda x: torch.cat([x, x + 1], -1) if x.dim() else x,
    "distances": lambda x: torch.cdist(x, x[:1]) if x.dim() == 2 else x,
    "folded": lambda x: x.view(x.shape[0], -1, 1) if x.dim() == 2 and x.is_contiguous() else x,
}


def run(steps: list[str], *, after: Callable[[Any], None] = lambda tensor: None, at: int = -1, element: int = 0) -> Any:
    """The last tensor of the program, with one element of the tensor made by step `at` spoiled."""
    tensor = torch.arange(12.0).reshape(3, 4) / 12
    for number, name in enumerate(["in place", *steps]):
        tensor = ONE[name](tensor)
        if number == at:
            tensor[np.unravel_index(element, tuple(tensor.shape))] = float("nan")
        after(tensor)
    return tensor


def read(tensor: Any, a_part: bool) -> Any:
    return (tensor[:1] if a_part and tensor.dim() else tensor).clone()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(sorted(ONE)), min_size=1, max_size=6), st.booleans())
def test_what_is_not_needed_may_be_anything(steps: list[str], a_part: bool) -> None:
    """Element by element: those that change what is read lie where the analysis says, and are no more than it says."""
    # a detached tensor is a view, which reads nothing: it marks which value a step has made
    trace = looked_at(lambda _: read(run(steps, after=lambda tensor: tensor.detach()), a_part))
    operators, values = operators_of(trace), values_of(trace)
    flow = Flow(operators, values)
    marks = [operator.reads[0] for operator in operators if operator.name == "aten::detach"]
    assert len(marks) == len(steps) + 1
    plain = read(run(steps), a_part)
    for number, mark in enumerate(marks):
        assert mark.geometry is not None
        if mark.geometry.distinct < mark.elements or values[mark.value].made_by < 0:
            continue
        need = in_view(flow.need_of(mark.value), mark.geometry, flow.form_of(mark.value))
        changing = [
            element
            for element in range(mark.elements)
            if not torch.equal(plain, read(run(steps, at=number, element=element), a_part))
        ]
        assert len(changing) <= need.elements, (steps, number, need)
        for element in changing:
            place = np.unravel_index(element, need.shape)
            assert all(axis is None or axis[where] for axis, where in zip(need.axes, place, strict=True)), (
                steps,
                number,
            )


def test_it_finds_something() -> None:
    """Else everything could be called needed."""
    trace = looked_at(lambda _: read(run(["product", "diagonal"]), a_part=False))
    flow = Flow(operators_of(trace), values_of(trace))
    rows = [row for row, operator in enumerate(operators_of(trace)) if operator.name == "aten::mm"]
    assert [flow.needed[row].elements for row in rows] == [3]
