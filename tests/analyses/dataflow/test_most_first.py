"""Of several findings in one look the one that matters most comes first, in whichever order they ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.costly_algorithms import CostlyAlgorithms
from gpuprof.analyses.dataflow.product_order import ProductOrder
from gpuprof.analyses.dataflow.zero_operands import ZeroOperands
from gpuprof.capture.look.close_look import CloseLook
from tests.support.looked_runs import looked_at

WAVE, LONG, SHORT = torch.rand(1, 1, 20_000), torch.rand(1, 1, 4_000), torch.rand(1, 1, 1_500)
SQUARES = [torch.rand(size, size) for size in (300, 60)]
SPARSE = [(torch.rand(size, size) < 0.01).float() for size in (600, 300)]
INPUTS = [torch.rand(len(each), 64) for each in SPARSE]


# what is at one line is one finding
def large_products() -> torch.Tensor:
    return SQUARES[0] @ SQUARES[0] @ SQUARES[0] @ SQUARES[0][:, :1]


def small_products() -> torch.Tensor:
    return SQUARES[1] @ SQUARES[1] @ SQUARES[1] @ SQUARES[1][:, :1]


def long_filter() -> torch.Tensor:
    return F.conv1d(WAVE, LONG)


def short_filter() -> torch.Tensor:
    return F.conv1d(WAVE, SHORT)


# what is read of the results, how much of each matters, and two pieces of code with something in them
KINDS: dict[str, tuple[Callable[[Results], Any], Callable[[Any], float], list[Callable[[], Any]]]] = {
    "algorithms": (
        lambda results: results.get(CostlyAlgorithms).uses,
        lambda each: each.saved_ns,
        [long_filter, short_filter],
    ),
    "orders": (
        lambda results: results.get(ProductOrder).orders,
        lambda each: each.saved_ns,
        [large_products, small_products],
    ),
    "zeros": (
        lambda results: results.get(ZeroOperands).operands,
        lambda each: each.saved_ns,
        [lambda: SPARSE[0] @ INPUTS[0], lambda: SPARSE[1] @ INPUTS[1]],
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("turned", [False, True])
def test_the_most_comes_first(kind: str, turned: bool) -> None:
    found_of, measure, codes = KINDS[kind]

    def run(look: CloseLook) -> None:
        for _ in range(3):
            kept = [code() for code in (codes[::-1] if turned else codes)]
            sum(each.sum().item() for each in kept)
            look.iteration_ended()

    found = [measure(each) for each in found_of(Results(looked_at(run, iterations=4)))]
    assert len(found) >= 2 and found == sorted(found, reverse=True) and found[0] > found[-1]
