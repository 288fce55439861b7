"""Formulas of products and of attention against torch's."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import sdpa_backward_flop_count, sdpa_flop_count

from gpuprof.analyses.efficiency.matrix_flops import attention_flops, product_flops
from gpuprof.model.known_operators import ATTENTION_BACKWARDS, ATTENTION_FORWARDS
from tests.analyses.efficiency.recorded import counted_flops, recorded, tensor

SIZE = st.integers(1, 70)


def _values(place: int, causal: str) -> tuple[str, ...]:
    return ("",) * place + (causal,)


@pytest.mark.parametrize(
    ("name", "shapes", "flops"),
    [
        ("aten::mv", ((3, 5), (5,)), 30),
        ("aten::addmv", ((3,), (3, 5), (5,)), 30),
        ("aten::dot", ((5,), (5,)), 10),
        ("aten::linear", ((2, 3, 5), (7, 5)), 420),
        ("aten::linear", ((5,), (7, 5)), 70),
        ("aten::linear", ((2, 5), (5,)), 20),
        ("aten::_scaled_mm", ((3, 5), (5, 7), (), ()), 210),
        ("aten::mm", ((0, 5), (5, 7)), 0),
    ],
)
def test_products(name: str, shapes: tuple[tuple[int, ...], ...], flops: int) -> None:
    assert product_flops(name, shapes) == flops


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("aten::mm", ((3, 5), (6, 7))),
        ("aten::mm", ((3, 5),)),
        ("aten::mm", ((), (5, 7))),
        ("aten::bmm", ((2, 3, 5), (3, 5, 7))),
        ("aten::linear", ((2, 3), (4, 5))),
        ("aten::add", ((3, 5), (5, 7))),
    ],
)
def test_what_does_not_fit_is_unknown(name: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    assert product_flops(name, shapes) is None


@given(SIZE, SIZE, SIZE, SIZE, SIZE, st.sampled_from([1, 2, 4]))
def test_attention_is_as_torch_counts_it(batch: int, queries: int, keys: int, size: int, other: int, few: int) -> None:
    query, key, value = (batch, 4, queries, size), (batch, few, keys, size), (batch, few, keys, other)
    out = (batch, 4, queries, other)
    for name, place in ATTENTION_FORWARDS.items():
        assert attention_flops(name, (query, key, value), _values(place, "False")) == sdpa_flop_count(query, key, value)
    for name, place in ATTENTION_BACKWARDS.items():
        found = attention_flops(name, (out, query, key, value), _values(place, "False"))
        assert found == sdpa_backward_flop_count(out, query, key, value)


@given(SIZE, SIZE)
def test_causal_attention_counts_the_pairs_that_its_mask_leaves(queries: int, keys: int) -> None:
    name, place = next(iter(ATTENTION_FORWARDS.items()))
    shapes = ((1, 1, queries, 1), (1, 1, keys, 1), (1, 1, keys, 1))
    pairs = int(torch.ones(queries, keys).tril().sum())
    assert attention_flops(name, shapes, _values(place, "True")) == 2 * pairs * 2


def test_without_knowing_whether_it_is_causal_nothing_is_known() -> None:
    name, place = next(iter(ATTENTION_FORWARDS.items()))
    shapes = ((1, 2, 8, 4), (1, 2, 8, 4), (1, 2, 8, 4))
    assert attention_flops(name, shapes, ()) is None
    assert attention_flops(name, shapes, _values(place, "")) is None
    assert attention_flops(name, shapes[:2], _values(place, "False")) is None
    assert attention_flops(name, ((2, 8, 4),) * 3, _values(place, "False")) is None


@pytest.mark.parametrize("causal", [False, True])
def test_real_attention_forward_and_backward(causal: bool, tmp_path: Path) -> None:
    shape = (2, 4, 8, 16)

    def work() -> None:
        query, key, value = (tensor(*shape) for _ in range(3))
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            functional.scaled_dot_product_attention(query, key, value, is_causal=causal).sum().backward()

    whole = sdpa_flop_count(shape, shape, shape) + sdpa_backward_flop_count(shape, shape, shape, shape)
    assert counted_flops(recorded(work, tmp_path)) == (whole * 36 // 64 if causal else whole)
