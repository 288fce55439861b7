"""Tensors of almost only zeros, and what is not filled, padded, or merely has many zeros."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from gpuprof.capture.memory.tensor_references import held_tensors
from gpuprof.capture.memory.zero_content import zeros_in

RANDOM = torch.Generator().manual_seed(0)


def sparse(*shape: int, share: float = 0.005) -> torch.Tensor:
    return (torch.rand(*shape, generator=RANDOM) < share).float()


def classes(*shape: int, number: int) -> torch.Tensor:
    return F.one_hot(torch.randint(0, number, shape, generator=RANDOM), number)


def padded(*, at_end: bool = False) -> torch.Tensor:
    made = torch.zeros(4000, 3000)
    for row in range(4000):
        made[row, : 10 + row % 40] = 1.5
    return made.flip(1).contiguous() if at_end else made


def begun() -> torch.Tensor:
    """A buffer of which the first rows are filled."""
    made = torch.zeros(20_000, 1000)
    made[:200] = 1
    return made


@pytest.mark.parametrize(
    ("make", "share"),
    [
        (lambda: classes(9000, number=1000).float(), 0.999),
        (lambda: classes(9000, number=1000), 0.999),
        (lambda: classes(30_000, number=1000).bfloat16(), 0.999),
        (lambda: classes(40_000, number=1000).bool(), 0.999),
        (lambda: classes(9000, number=1000).float().T, 0.999),
        (lambda: classes(200, 100, number=900).float(), 0.9989),
        (lambda: classes(40, 128, 128, number=21).permute(0, 3, 1, 2).contiguous().float(), 0.952),
        (lambda: torch.eye(4000), 0.9997),
        (lambda: classes(1000, number=50_000).float(), 0.9999),
    ],
    ids=["float", "int64", "bfloat16", "bool", "transposed", "sequences", "masks", "eye", "vocabulary"],
)
def test_one_hot_numbers(make: Callable[[], torch.Tensor], share: float) -> None:
    dense = make()
    found = zeros_in(dense)
    assert found is not None and found.one_hot
    assert found.share == pytest.approx(share, abs=1e-3)
    assert found.bytes == pytest.approx(dense.nbytes * (dense == 0).float().mean().item(), rel=1e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sparse(4000, 4000),
        lambda: sparse(2, 3000, 3000),
        lambda: sparse(30, 1_000_000, share=0.01),
        lambda: sparse(30, 4, 500, 500, share=0.01),
        lambda: (classes(9000, number=1000) + classes(9000, number=1000)).float(),
        lambda: classes(9000, number=1000).float() * 2,
    ],
    ids=["adjacency", "two", "long rows", "pictures", "two of each", "other numbers"],
)
def test_spread_numbers(make: Callable[[], torch.Tensor]) -> None:
    dense = make()
    found = zeros_in(dense)
    assert found is not None and not found.one_hot
    assert found.share == pytest.approx((dense == 0).double().mean().item(), abs=0.003)


@pytest.mark.parametrize(
    "make",
    [
        padded,
        lambda: padded(at_end=True),
        begun,
        lambda: torch.zeros(3000, 4000),
        lambda: torch.randn(3000, 4000),
        lambda: torch.relu(torch.randn(3000, 4000) - 1.2),
        lambda: sparse(3000, 4000, share=0.06),
        lambda: sparse(5000, 7000, share=0.03).bool(),
        lambda: torch.ones(3000, 4000).tril(),
        lambda: sparse(3000, 4000).requires_grad_(),
        lambda: torch.nn.Parameter(sparse(3000, 4000)),
        lambda: sparse(1000, 1000),
        lambda: sparse(12_000_000),
        lambda: sparse(3000, 4000).to_sparse(),
        lambda: torch.eye(100).expand(2000, 100, 100),
    ],
    ids=[
        *("padded", "padded before", "begun", "zeros", "noise", "relu", "too many", "small numbers", "triangle"),
        *("gradient", "weights", "small", "line", "sparse", "expanded"),
    ],
)
def test_what_is_no_matrix_of_zeros(make: Callable[[], torch.Tensor]) -> None:
    assert zeros_in(make()) is None


def test_of_a_name() -> None:
    targets = classes(9000, number=1000).float()
    (row,) = held_tensors({"targets": targets}, "train()")
    assert (row.zeros_bytes, row.zeros_share, row.one_hot) == (35_964_000, 0.999, True)
    assert row.repeated_bytes == 0


def test_the_gradient_of_a_table_is_not_made_by_the_name() -> None:
    table = torch.randn(9000, 1000, requires_grad=True)
    table.grad = sparse(9000, 1000)
    (row,) = held_tensors({"table": table}, "train()")
    assert row.tensors == 2 and row.zeros_bytes == 0


def test_when_the_time_for_content_is_spent_names_are_listed_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuprof.capture.memory.tensor_references._MOST_CONTENT_NS", 1)
    names = {"first": classes(9000, number=1000).float(), "second": classes(9000, number=1000).float()}
    rows = {each.name: each for each in held_tensors(names, "train()")}
    assert rows["first"].one_hot and rows["second"].zeros_bytes == 0
    assert rows["second"].bytes == 36_000_000
