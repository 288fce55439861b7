"""Orders of chains with a sparse matrix: by the measured times of their products, and in real looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from gpuprof.analyses.dataflow.chain_orders import Factor, Order, work_of
from gpuprof.analyses.dataflow.product_order import CostlyOrder
from gpuprof.analyses.demand.sparse_orders import SparseOrder, sparse_columns
from tests.analyses.dataflow.test_product_order import orders

GRAPH = Factor(1000, 1000, entries=10_000, entry_columns=8)
X, W = Factor(1000, 500), Factor(500, 8)
WIDE, NARROW = ((0, 1), 2), (0, (1, 2))


@pytest.mark.parametrize("grad", [False, True])
def test_the_sparse_product_goes_with_its_columns_and_the_dense_one_with_its_operations(grad: bool) -> None:
    """508 columns become 16, and the weight’s gradient needs another sparse product of 16 columns."""
    factors = (GRAPH, X, Factor(500, 8, grad=grad))
    found = SparseOrder.of(factors, WIDE, (508_000, 10_000))
    before, after = 508_000 + 10_000 * (1 + grad), (16_000 + 10_000) * (1 + grad)
    assert found.order == NARROW
    assert found.saved_share == pytest.approx(1 - after / before, rel=0.05)
    assert (sparse_columns(factors, WIDE), sparse_columns(factors, NARROW)) == (500, 8)


def test_slow_dense_products_decide() -> None:
    """The features get wider: aggregating before is right, however many operations the sparse product has."""
    widens = (GRAPH, Factor(1000, 8), Factor(8, 500))
    assert SparseOrder.of(widens, WIDE, (16_000, 10_000)) == SparseOrder(WIDE, 0.0)
    assert SparseOrder.of(widens, NARROW, (10_000, 508_000)).order == WIDE
    assert SparseOrder.of((GRAPH, X, W), NARROW, (10_000, 16_000)) == SparseOrder(NARROW, 0.0)


def test_gradients_of_the_sparse_product_may_cost_what_it_saves() -> None:
    """With 500 columns of 600 left, a second pass takes more than the first one saves."""
    factors = (GRAPH, Factor(1000, 600), Factor(600, 500, grad=True))
    assert SparseOrder.of(factors, WIDE, (608_000, 1000)).order == WIDE
    assert SparseOrder.of((*factors[:2], Factor(600, 500)), WIDE, (608_000, 1000)).order == NARROW


def test_products_that_torch_does_not_have_are_no_order() -> None:
    """Dense times sparse, unless that is what ran; never two sparse matrices."""
    left = (Factor(4, 1000), GRAPH, Factor(1000, 500))
    assert SparseOrder.of(left, (0, (1, 2)), (508_000, 10_000)).order == (0, (1, 2))
    assert SparseOrder.of(left, ((0, 1), 2), (12_000, 10_000)).order == ((0, 1), 2)
    assert SparseOrder.of((GRAPH, GRAPH, X), (0, (1, 2)), (508_000, 508_000)).order == (0, (1, 2))


@pytest.mark.parametrize("ran", [WIDE, NARROW])
def test_nothing_that_took_time_saves_nothing(ran: Order) -> None:
    assert SparseOrder.of((GRAPH, X, W), ran, (0, 0)).saved_share == 0.0


def test_operations_of_a_sparse_product() -> None:
    assert work_of((GRAPH, X, W), WIDE)[1].flops == 2 * 10_000 * 500 + 2 * 1000 * 500 * 8
    assert work_of((GRAPH, X, W), NARROW)[1].flops == 2 * 10_000 * 8 + 2 * 1000 * 500 * 8
    assert work_of((X, Factor(500, 500, entries=9)), (0, 1))[1].flops == 2 * 9 * 1000
    assert sparse_columns((X, Factor(500, 500, entries=9)), (0, 1)) == 1000
    assert sparse_columns((X, W), (0, 1)) == 0


def sparse(layout: str) -> torch.Tensor:
    torch.manual_seed(0)
    dense = (torch.rand(1500, 1500) < 0.02).float()
    return dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()


CODES: dict[str, Callable[..., Any]] = {
    "mm": lambda a, x, w: torch.sparse.mm(a, x) @ w,
    "@": lambda a, x, w: a @ x @ w,
    "linear": lambda a, x, w: torch.nn.functional.linear(torch.sparse.mm(a, x), w.t(), torch.zeros(4)),
    "transposed": lambda a, x, w: (a.t() @ x) @ w,
    "training": lambda a, x, w: (torch.sparse.mm(a, x) @ w).sum().backward(),
}


# a transposed CSR matrix is a CSC matrix, which has no product of its own
@pytest.mark.parametrize(
    ("layout", "code"),
    [(layout, code) for layout in ("coo", "csr") for code in CODES if code != "transposed" or layout == "coo"],
)
def test_wide_features_that_are_added_over_a_graph_before_they_get_narrow(layout: str, code: str) -> None:
    a, x, w = sparse(layout), torch.rand(1500, 600), torch.rand(600, 4, requires_grad=code == "training")
    (found,) = orders(lambda: CODES[code](a, x, w))
    assert (found.ran, found.cheapest, found.sparse) == (WIDE, NARROW, True)
    assert [each.entries for each in found.factors] == [a._nnz(), None, None]
    assert found.flops == 2 * a._nnz() * 600 + 2 * 1500 * 600 * 4
    assert 0 < found.saved_ns <= found.rows_ns and len(found.rows) == (6 if code == "training" else 4)


def quiet(code: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]) -> tuple[CostlyOrder, ...]:
    a, x, w = sparse("coo"), torch.rand(1500, 600), torch.rand(600, 4)
    return orders(lambda: code(a, x, w))


def test_what_is_in_order_already_or_needed_otherwise() -> None:
    assert quiet(lambda a, x, w: torch.sparse.mm(a, x @ w)) == ()
    assert quiet(lambda a, x, w: torch.sparse.mm(a, x).relu() @ w) == ()
    assert quiet(lambda a, x, w: torch.sparse.addmm(x, a, x) @ w) == ()  # what is added is multiplied, too
    assert quiet(lambda a, x, w: (y := torch.sparse.mm(a, x)).sum() + (y @ w).sum()) == ()
    assert quiet(lambda a, x, w: torch.sparse.mm(a.requires_grad_(), x) @ w) == ()  # entries that are learned
