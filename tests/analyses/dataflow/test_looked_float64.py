"""Double precision of a model, as the close look sees it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_float64 import LookedFloat64
from gpuprof.model.context import Cell
from tests.support.looked_runs import looked_at
from tests.support.trace_builder import TraceBuilder


def seen(code: Any) -> LookedFloat64:
    return Results(looked_at(code)).get(LookedFloat64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_model_in_double_precision(dtype: torch.dtype) -> None:
    net = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).to(dtype)
    x = torch.randn(2048, 256, dtype=dtype)
    found = seen(lambda look: net(x))
    if dtype is torch.float32:
        assert not len(found.rows) and found.share == found.weights_share == 0 and found.places == ()
    else:
        # products, the ReLU and their like; views of weights are none; the share is of measured time
        assert len(found.rows) >= 3 and found.share > 0.6 and 0 < found.weights_share <= found.share
        assert found.places and not found.solvers and not found.chosen


def test_a_sum_in_double_precision_has_no_weights() -> None:
    net, x = nn.Linear(64, 64), torch.randn(512, 64)
    found = seen(lambda look: net(x).double().mean(0))
    assert found.share > 0 and found.weights_share == 0


def test_few_numbers_do_not_count() -> None:
    net, x = nn.Linear(4, 4).double(), torch.randn(4, 4).double()
    assert not len(seen(lambda look: net(x)).rows)


def test_the_length_of_a_vector_is_no_solver() -> None:
    x = torch.randn(512, 64).double()
    assert not seen(lambda look: torch.nn.functional.normalize(x, dim=-1)).solvers


def test_a_solver_is_told() -> None:
    matrix = torch.randn(64, 64).double()
    assert seen(lambda look: torch.linalg.cholesky(matrix @ matrix.T + torch.eye(64).double() * 64)).solvers


@pytest.mark.parametrize(
    ("source", "chosen"), [("torch.set_default_dtype(torch.float64)", True), ("model = Net().double()", False)]
)
def test_a_default_that_is_set_is_told(source: str, chosen: bool) -> None:
    trace = TraceBuilder().context(cell=Cell(source=source)).build()
    assert Results(trace).get(LookedFloat64).chosen is chosen
