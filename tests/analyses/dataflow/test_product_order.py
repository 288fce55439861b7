"""Chains of products in real looks, and what is no chain."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.chain_orders import Factor, Order, cheapest, work_of
from gpuprof.analyses.dataflow.product_order import CostlyOrder, ProductOrder
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.look import LookPart
from tests.support.look_builder import LookBuilder
from tests.support.looked_runs import looked_at

N = 96


def orders(code: Callable[[], Any], iterations: int = 2) -> tuple[CostlyOrder, ...]:
    """Of code that runs in each iteration."""

    def run(look: CloseLook) -> None:
        for _ in range(iterations):
            code()
            look.iteration_ended()

    # one more: the last one that it sees ends a look
    return Results(looked_at(run, iterations=iterations + 1)).get(ProductOrder).orders


def matrices(*shapes: tuple[int, ...], grad: bool = False) -> list[torch.Tensor]:
    return [torch.rand(shape, requires_grad=grad) for shape in shapes]


def multiplied(tensors: list[torch.Tensor], order: Order) -> torch.Tensor:
    return tensors[order] if isinstance(order, int) else multiplied(tensors, order[0]) @ multiplied(tensors, order[1])


def drawn_order(data: st.DataObject, first: int, last: int) -> Order:
    if first == last:
        return first
    split = data.draw(st.integers(first, last - 1))
    return drawn_order(data, first, split), drawn_order(data, split + 1, last)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from((2, 8, 40, 100)), min_size=3, max_size=6), st.data())
def test_random_chains_are_found_with_what_they_take(sizes: list[int], data: st.DataObject) -> None:
    """The order that ran and the cheapest one; transposed factors are read from where they lie."""
    factors = [Factor(*each) for each in itertools.pairwise(sizes)]
    tensors = [
        torch.rand(each.columns, each.rows).T if data.draw(st.booleans()) else torch.rand(each.rows, each.columns)
        for each in factors
    ]
    ran = drawn_order(data, 0, len(factors) - 1)
    took, least = work_of(factors, ran)[1], work_of(factors, cheapest(factors))[1]
    found = orders(lambda: multiplied(tensors, ran))
    if took.flops == least.flops:
        assert found == ()
    if found:
        (only,) = found
        assert (only.flops, only.cheapest_flops, only.ran) == (took.flops, least.flops, ran)
        assert list(only.factors) == factors and only.count == 2
        assert 0 < only.saved_ns <= only.rows_ns and only.share <= 1
    else:
        assert least.effort >= took.effort


def test_a_chain_whose_part_is_read_transposed() -> None:
    a, b, x = matrices((N, 20), (20, 80), (N, 1))
    (found,) = orders(lambda: (a @ b).T @ x)
    assert [(each.rows, each.columns) for each in found.factors] == [(80, 20), (20, N), (N, 1)]
    assert (found.ran, found.cheapest) == (((0, 1), 2), (0, (1, 2)))


def test_a_vector_that_is_multiplied_from_the_left() -> None:
    a, b, x = matrices((N, N), (N, N), (N,))
    (found,) = orders(lambda: x @ (a @ b))
    assert found.flops == 2 * N**3 + 2 * N**2 and found.cheapest_flops == 4 * N**2
    assert orders(lambda: x @ a @ b) == () and orders(lambda: a @ (b @ x)) == ()


def test_backward_passes_count_with_their_products() -> None:
    a, b, x = matrices((N, N), (N, N), (N, 1), grad=True)
    (found,) = orders(lambda: (a @ b @ x).sum().backward())
    (forward,) = orders(lambda: (a @ b @ x).sum())
    assert (len(forward.rows), len(found.rows)) == (4, 12)  # two products, each with two gradients
    assert found.saved_ns <= found.rows_ns


def test_products_in_batches_and_the_last_with_a_bias() -> None:
    a, b, x, bias = matrices((3, N, N), (3, N, N), (3, N, 1), (N, 1))
    (found,) = orders(lambda: a @ b @ x)
    assert [each.batch for each in found.factors] == [3, 3, 3] and found.flops == 3 * (2 * N**3 + 2 * N**2)
    (biased,) = orders(lambda: torch.addmm(bias, a[0] @ b[0], x[0]))
    assert biased.cheapest == (0, (1, 2))
    assert orders(lambda: torch.addmm(bias, a[0], b[0]) @ x[0]) == ()  # the bias is multiplied, too


def test_diagonal_matrices_scale() -> None:
    u, v, k, batch = matrices((N,), (N,), (N, N), (2, N))
    for code, diagonal in (
        (lambda: torch.diag(u) @ k @ torch.diag(v), [True, False, True]),
        (lambda: k @ torch.diag_embed(batch), [False, True]),
        (lambda: torch.diag(u).T @ k, [True, False]),
        (lambda: (torch.eye(N) * u) @ k, [True, False]),
        (lambda: torch.eye(N) @ k, [True, False]),
    ):
        (found,) = orders(code)
        assert [each.diagonal for each in found.factors] == diagonal
        assert found.cheapest_flops <= 2 * N * N * 2


def test_what_is_not_diagonal() -> None:
    u, k, wide = matrices((N,), (N, N), (N, N + 1))
    assert orders(lambda: torch.diag(u, 1) @ torch.rand(N + 1, N)) == ()
    assert orders(lambda: torch.diag(u)[:, : N // 2] @ k[: N // 2]) == ()
    assert orders(lambda: torch.diag(u).add_(k) @ k) == ()
    assert orders(lambda: (torch.eye(N) + u) @ k) == ()
    assert orders(lambda: torch.eye(N, N + 1) @ wide.T) == ()
    assert orders(lambda: k.diag().diag()[0] @ k) == ()


def test_a_result_that_something_else_reads_is_needed() -> None:
    a, b, x = matrices((N, N), (N, N), (N, 1))

    def also_read() -> torch.Tensor:
        product = a @ b
        return product @ x + product.sum()

    def read_outside() -> torch.Tensor:
        product = a @ b
        product.numpy().sum()
        return product @ x

    def part() -> torch.Tensor:
        return (a @ b)[: N // 2] @ x

    def twice() -> torch.Tensor:
        product = a @ b
        return product @ product @ x

    def written() -> torch.Tensor:
        product = a @ b
        a.mul_(1.0)
        return product @ x

    for code in (also_read, read_outside, part, written):
        assert orders(code) == (), code
    (found,) = orders(twice)  # of it only the last two products are a chain
    assert len(found.factors) == 3 and found.flops == 2 * N**3 + 2 * N**2


def test_a_result_that_is_kept_may_be_read_later() -> None:
    a, b, x = matrices((N, N), (N, N), (N, 1))
    kept = []

    def append() -> None:
        kept.append(a @ b)
        kept[-1] @ x

    def hold() -> None:
        kept[:] = [a @ b]
        kept[-1] @ x

    assert orders(append) == ()
    assert len(orders(hold)) == 1  # made anew in each iteration


def test_only_what_is_so_in_each_iteration() -> None:
    a, b, x = matrices((N, N), (N, N), (N, 1))
    turns = iter(range(10))
    assert orders(lambda: a @ b @ x if next(turns) % 2 else x.sum(), iterations=4) == ()


@pytest.mark.parametrize(
    ("ended_by", "found"), [(("seconds",), 1), (("iterations",), 0), (("seconds", "iterations"), 1), (("cell",) * 2, 1)]
)
def test_iterations_that_were_found_may_begin_between_two_products(ended_by: tuple[str, ...], found: int) -> None:
    """The second product of a turn has the number of the next iteration, and the first of them has no chain."""
    look = LookBuilder().tensor("a", shape=(N, N)).tensor("x", shape=(N, 1))
    for turn in range(5):
        if turn:
            look.operator("aten::mm", 10, reads="a a", makes="p", shape=(N, N), line=2, iteration=turn - 1)
            look.operator("aten::mm", 1, reads="p x", makes="y", shape=(N, 1), line=2, iteration=turn).free("p")
        for _ in range(4):
            look.operator("aten::exp", 1, reads="x", makes="z", shape=(N, 1), line=3, iteration=turn)
    parts = tuple(LookPart(iterations=5, first_iteration=5 * at, ended_by=each) for at, each in enumerate(ended_by))
    orders = Results(look.build(parts=parts)).get(ProductOrder).orders
    assert len(orders) == found


@pytest.mark.parametrize("ended_by", ["seconds", "iterations"])
def test_what_one_iteration_hands_to_the_next_is_no_chain(ended_by: str) -> None:
    look = LookBuilder().tensor("a", shape=(N, N)).tensor("p0", shape=(N, N)).tensor("x", shape=(N, 1))
    for turn in range(4):
        after = f"p{turn + 1}"
        look.operator("aten::mm", 10, reads=f"p{turn} a", makes=after, shape=(N, N), line=2, iteration=turn)
        look.free(f"p{turn}")
    look.operator("aten::mm", 10, reads="p4 x", makes="y", shape=(N, 1), line=2, iteration=4).free("p4")
    assert Results(look.build(ended_by=ended_by)).get(ProductOrder).orders == ()


@pytest.mark.parametrize("name", ["mlp", "attention", "lstm", "lora", "convolution", "graph"])
def test_healthy_networks_have_none(name: str) -> None:
    model, given = _NETWORKS[name]()
    assert orders(lambda: model(given).sum().backward()) == ()


class _Heads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (each(x).unflatten(-1, (4, 8)).transpose(1, 2) for each in (self.query, self.key, self.value))
        weights = (q @ k.transpose(-2, -1) / 8**0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class _Steps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = None
        for each in x:
            state = self.cell(each, state)
        return state[0]


class _LowRank(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.whole, self.down, self.up = nn.Linear(64, 64), nn.Linear(64, 4, bias=False), nn.Linear(4, 64, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.whole(x) + self.up(self.down(x))


class _Graph(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight, self.neighbors = nn.Parameter(torch.rand(60, 8)), torch.rand(80, 80)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.neighbors @ (x @ self.weight)).relu()


_NETWORKS: dict[str, Callable[[], tuple[nn.Module, torch.Tensor]]] = {
    "mlp": lambda: (nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.rand(32, 64)),
    "attention": lambda: (_Heads(), torch.rand(2, 24, 32)),
    "lstm": lambda: (_Steps(), torch.rand(5, 4, 16)),
    "lora": lambda: (_LowRank(), torch.rand(2, 40, 64)),
    "convolution": lambda: (
        nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 4)),
        torch.rand(2, 3, 8, 8),
    ),
    "graph": lambda: (_Graph(), torch.rand(80, 60)),
}


def test_a_product_that_is_read_transposed() -> None:
    """(A·B)ᵀ·x is Bᵀ·Aᵀ·x, and (A·(B·C))ᵀ·x is Cᵀ·Bᵀ·Aᵀ·x: the factors change places."""
    a, b, c, x = matrices((96, 80), (80, 64), (64, 72), (96, 1))
    (two,) = orders(lambda: (a @ b).T @ x)
    assert [(each.rows, each.columns) for each in two.factors] == [(64, 80), (80, 96), (96, 1)]
    assert (two.ran, two.cheapest) == (((0, 1), 2), (0, (1, 2)))
    (three,) = orders(lambda: (a @ (b @ c)).T @ x)
    assert [(each.rows, each.columns) for each in three.factors] == [(72, 64), (64, 80), (80, 96), (96, 1)]
    assert (three.ran, three.cheapest) == ((((0, 1), 2), 3), (0, (1, (2, 3))))


def test_products_of_the_backward_pass_are_of_the_line_of_the_forward_ones() -> None:
    """As far as the line's own products are those of the chain: here half of their time is."""
    look = LookBuilder().tensor("a", shape=(N, N), grad=True).tensor("x", shape=(N, 1))
    for each in range(3):
        at = {"line": 2, "iteration": each}
        look.operator("aten::mm", 10, reads="a a", makes="p", shape=(N, N), graph=True, **at)
        look.operator("aten::mm", 2, reads="p x", makes="y", shape=(N, 1), graph=True, **at)
        look.operator("aten::mm", 12, reads="a a", makes="other", shape=(N, N), graph=True, **at)
        look.operator("aten::exp", 1, reads="other", makes="read", shape=(N, N), **at)
        back = {"backward": True, "line": 3, "forward_line": 2, "iteration": each}
        look.operator("aten::mm", 20, reads="y x", makes="g", shape=(N, N), **back)
        # of another line
        look.operator("aten::mm", 40, reads="y x", makes="h", shape=(N, N), **{**back, "forward_line": 7})
        look.free("p other g h read y")
    (found,) = Results(look.build()).get(ProductOrder).orders
    assert found.rows_ns == 3 * (12_000 + 10_000) and len(found.rows) == 9


def test_products_whose_lines_are_not_known_have_no_backward_ones() -> None:
    look = LookBuilder().tensor("a", shape=(N, N), grad=True).tensor("x", shape=(N, 1))
    for each in range(3):
        look.operator("aten::mm", 10, reads="a a", makes="p", shape=(N, N), graph=True, line=0, iteration=each)
        look.operator("aten::mm", 2, reads="p x", makes="y", shape=(N, 1), graph=True, line=2, iteration=each)
        back = {"backward": True, "line": 3, "iteration": each}
        look.operator("aten::mm", 20, reads="y x", makes="g", shape=(N, N), forward_line=0, **back)
        look.free("p g y")
    (found,) = Results(look.build()).get(ProductOrder).orders
    assert found.rows_ns == 3 * 12_000 and len(found.rows) == 6
