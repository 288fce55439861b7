"""Matrices of mostly zeros in real looks, and what is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.zero_operands import ZeroOperand, ZeroOperands
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.kinds import ZeroPattern
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

N = 400


def operands(code: Callable[[], Any], iterations: int = 3) -> tuple[ZeroOperand, ...]:
    """Of code that runs in each iteration."""

    def run(look: CloseLook) -> None:
        for _ in range(iterations):
            code()
            look.iteration_ended()

    return Results(looked_at(run, iterations=iterations + 1)).get(ZeroOperands).operands


def graph(share: float = 0.01, *shape: int, seed: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (torch.rand(shape or (N, N), generator=generator) < share).float()


def test_the_adjacency_of_a_graph() -> None:
    neighbors, layer = graph(), nn.Linear(64, 32)
    x = torch.rand(N, 64)
    (found,) = operands(lambda: (neighbors @ layer(x)).relu().sum().backward())
    assert (found.left, found.steady, found.pattern) == (True, True, ZeroPattern.NONE)
    assert (found.rows_count, found.columns, found.free, found.count) == (N, N, 32, 3)
    assert found.nonzeros == int(neighbors.count_nonzero())
    assert len(found.rows) == 6  # its products in backward passes as well
    assert 0.5 * found.rows_ns < found.saved_ns < found.rows_ns and 0 < found.share <= 1


def test_the_one_that_saves_most_comes_first() -> None:
    few, many, x = graph(0.001), graph(0.02), torch.rand(N, 64)
    for code in (lambda: few @ x + many @ x[:, :32].repeat(1, 2), lambda: many @ x[:, :32].repeat(1, 2) + few @ x):
        found = operands(code)
        assert len(found) == 2 and found[0].saved_ns >= found[1].saved_ns


def test_it_may_be_the_second_factor_transposed_or_behind_a_linear_layer() -> None:
    neighbors, x = graph(), torch.rand(64, N)
    for code in (lambda: x @ neighbors, lambda: x @ neighbors.T, lambda: F.linear(x, neighbors)):
        (found,) = operands(code)
        assert (found.left, found.rows_count, found.columns, found.free) == (False, N, N, 64)
    bias = torch.rand(64)
    (found,) = operands(lambda: torch.addmm(bias, neighbors, x.T))
    assert found.left and found.free == 64


@torch.inference_mode()
def test_in_inference_mode_products_are_operators_of_their_own() -> None:
    neighbors, x = graph(), torch.rand(N, 64)
    (found,) = operands(lambda: torch.matmul(neighbors, x))
    assert found.left and found.free == 64


def test_a_batch_of_matrices_is_not_made_sparse() -> None:
    neighbors, x = graph(0.01, 3, 200, 200), torch.rand(3, 200, 32)
    assert operands(lambda: neighbors @ x) == ()
    eye = torch.stack([torch.eye(200) * 2] * 3)
    (found,) = operands(lambda: eye @ x)
    assert (found.batch, found.pattern) == (3, ZeroPattern.DIAGONAL)


def test_other_types_are_not_made_sparse() -> None:
    neighbors, x = graph().bfloat16(), torch.rand(N, 64).bfloat16()
    assert operands(lambda: neighbors @ x) == ()


def test_patterns_by_rows_and_columns_of_what_is_multiplied() -> None:
    ids, table, x = torch.arange(N) * 7 % 300, torch.rand(300, 48), torch.rand(N, 48)
    hot = F.one_hot(ids, 300).float()
    turned = hot.T.contiguous()
    scale = torch.zeros(N, N)
    scale[range(N), range(N)] = torch.rand(N) + 1
    for code, pattern, left in (
        (lambda: hot @ table, ZeroPattern.ONE_HOT_ROWS, True),
        (lambda: turned.T @ table, ZeroPattern.ONE_HOT_ROWS, True),
        (lambda: turned @ x, ZeroPattern.ONE_HOT_COLUMNS, True),
        (lambda: x.T @ hot, ZeroPattern.ONE_HOT_ROWS, False),
        (lambda: F.linear(x.T, turned), ZeroPattern.ONE_HOT_ROWS, False),
        (lambda: scale @ x, ZeroPattern.DIAGONAL, True),
    ):
        (found,) = operands(code)
        assert (found.pattern, found.left) == (pattern, left)
        assert found.saved_ns > 0.5 * found.rows_ns


def test_one_hot_rows_that_are_made_anew_from_indices() -> None:
    table = torch.rand(500, 64, requires_grad=True)
    (found,) = operands(lambda: F.one_hot(torch.randint(0, 500, (256,)), 500).float() @ table)
    assert (found.steady, found.pattern, found.count) == (False, ZeroPattern.ONE_HOT_ROWS, 3)


def test_activations_and_masks_are_no_fault() -> None:
    x, weight = torch.rand(N, N), torch.rand(N, 32)
    assert operands(lambda: F.relu(torch.randn(N, N) - 2.5) @ weight) == ()
    assert operands(lambda: F.dropout(x, 0.99) @ weight) == ()
    assert operands(lambda: torch.randn(N, N).topk(3).values.sum() + x.masked_fill(x < 0.99, 0) @ weight) == ()


def test_what_is_written_in_between_is_not_the_same() -> None:
    cache, x = torch.zeros(N, N), torch.rand(N, 32)
    rows = iter(range(N))

    def step() -> None:
        cache[next(rows)] = 1.0
        cache @ x

    assert operands(step) == ()


def test_nothing_but_zeros_is_a_beginning() -> None:
    state, x = torch.zeros(N, N), torch.rand(N, 32)
    assert operands(lambda: state @ x) == ()


def test_weights_are_trained() -> None:
    layer = nn.Linear(N, N)
    with torch.no_grad():
        layer.weight.copy_(graph())
    x = torch.rand(N, N)
    assert operands(lambda: layer(x)) == ()


def test_too_many_are_not_zero() -> None:
    x = torch.rand(N, 64)
    dense, half = graph(0.2), graph(0.045)
    assert operands(lambda: dense @ x) == ()
    (found,) = operands(lambda: half @ x)
    assert found.saved_ns < 0.5 * found.rows_ns


def test_small_patterns_may_be_chance() -> None:
    hot, table = F.one_hot(torch.arange(20_000) % 10, 10).float(), torch.rand(10, 64)
    assert all(each.pattern is ZeroPattern.NONE for each in operands(lambda: hot @ table))


@pytest.mark.parametrize("device", ["cuda:0", "cpu"])
def test_what_was_not_counted_has_a_share(device: str) -> None:
    look = LookBuilder().tensor("adj", shape=(N, N), device=device)
    for each in range(3):
        look.tensor("x", shape=(N, 8), device=device)
        look.operator("aten::mm", 30, reads="adj x", makes="y", shape=(N, 8), device=device, iteration=each)
        look.operator("aten::exp", 70, reads="y", makes="z", shape=(N, 8), device=device, iteration=each)
    found = Results(look.build()).get(ZeroOperands)
    assert found.operands == () and found.uncounted_share == pytest.approx(0.3)


def test_sparse_products_of_a_device_win_later() -> None:
    saved = []
    for device in ("cpu", "cuda:0"):
        look = LookBuilder().tensor("adj", shape=(2000, 2000), device=device, zeros_share=0.99)
        for each in range(2):
            look.tensor("x", shape=(2000, 64), device=device)
            look.operator("aten::mm", 50, reads="adj x", makes="y", shape=(2000, 64), device=device, iteration=each)
        (found,) = Results(look.build()).get(ZeroOperands).operands
        saved.append(found.saved_ns)
    assert saved[0] > 1.5 * saved[1]
