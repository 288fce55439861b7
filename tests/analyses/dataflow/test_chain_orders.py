"""The cheapest order of a chain, against all orders, and against torch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuprof.analyses.dataflow.chain_orders import Factor, Order, cheapest, mirrored, text_of, work_of

SIZES = st.integers(1, 9)


@st.composite
def chains(draw: st.DrawFn) -> list[Factor]:
    """Of one to six matrices that fit, some of them diagonal, some of them a batch of three."""
    sizes, factors = [draw(SIZES)], []
    for _ in range(draw(st.integers(1, 6))):
        diagonal = draw(st.integers(0, 3)) == 0
        sizes.append(sizes[-1] if diagonal else draw(SIZES))
        factors.append(Factor(sizes[-2], sizes[-1], draw(st.sampled_from((1, 3))), diagonal))
    return factors


def all_orders(first: int, last: int) -> Iterator[Order]:
    if first == last:
        yield first
    for split in range(first, last):
        yield from itertools.product(all_orders(first, split), all_orders(split + 1, last))


@settings(max_examples=80)
@given(chains())
def test_no_order_takes_fewer_operations(factors: list[Factor]) -> None:
    least = min(work_of(factors, order)[1].flops for order in all_orders(0, len(factors) - 1))
    assert work_of(factors, cheapest(factors))[1].flops == least


@settings(max_examples=60, deadline=None)
@given(chains(), st.data())
def test_the_words_of_an_order_are_code_that_gives_the_product(factors: list[Factor], data: st.DataObject) -> None:
    """Also where diagonal matrices stand for their vectors; the operations are those of the products that run."""
    order = data.draw(st.sampled_from(list(all_orders(0, len(factors) - 1))))
    names, tensors, expected = [f"m{number}" for number in range(len(factors))], {}, None
    for name, each in zip(names, factors, strict=True):
        lead = (each.batch,) if each.batch > 1 else ()
        tensors[name] = torch.rand(*lead, each.rows, *(() if each.diagonal else (each.columns,)), dtype=torch.float64)
        dense = torch.diag_embed(tensors[name]) if each.diagonal else tensors[name]
        expected = dense if expected is None else expected @ dense
    found = eval(text_of(order, factors, names), tensors)
    made = work_of(factors, order)[0]
    torch.testing.assert_close(torch.diag_embed(found) if made.diagonal else found, expected)


def test_what_products_take() -> None:
    dense, column, scale = Factor(700, 700), Factor(700, 1), Factor(700, 700, diagonal=True)
    assert work_of((dense, dense, column), ((0, 1), 2))[1].flops == 2 * 700**3 + 2 * 700**2
    assert work_of((dense, dense, column), (0, (1, 2)))[1].flops == 4 * 700**2
    assert work_of((scale, dense, scale), ((0, 1), 2))[1].flops == 2 * 700**2
    assert work_of((scale, scale), (0, 1))[1].flops == 700
    assert work_of((Factor(5, 6, 4), Factor(6, 7)), (0, 1))[1].flops == 4 * 2 * 5 * 6 * 7
    assert cheapest((dense, dense, column)) == (0, (1, 2))


def test_of_equal_orders_what_begins_on_the_left() -> None:
    scale = Factor(7, 7, diagonal=True)
    assert cheapest((scale, Factor(7, 7), scale)) == ((0, 1), 2)


@pytest.mark.parametrize(
    ("order", "turned"), [(0, 0), ((0, 1), (0, 1)), (((0, 1), 2), (0, (1, 2))), ((0, ((1, 2), 3)), ((0, (1, 2)), 3))]
)
def test_the_order_of_the_transposed_chain(order: Order, turned: Order) -> None:
    assert mirrored(order) == turned and mirrored(turned) == order


def test_a_vector_is_scaled_without_another_axis() -> None:
    factors = (Factor(3, 3, diagonal=True), Factor(3, 3), Factor(3, 1, vector=True))
    assert text_of((0, (1, 2)), factors, "uKx") == "u * (K @ x)"
    assert text_of(((0, 1), 2), factors, "uKx") == "(u[:, None] * K) @ x"
    assert text_of(((0, 1), 2), (*factors[:2], factors[0]), "uKv") == "u[:, None] * K * v"
