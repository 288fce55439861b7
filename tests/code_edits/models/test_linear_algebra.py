"""Cheaper ways of products, inverses, decompositions and sorts, as text and as numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gpuprof.code_edits.models.linear_algebra import (
    reduced_svd,
    scale_instead,
    solve_instead,
    sparse_once,
    topk_instead,
)

SET_UP = """import torch
from torch import linalg
torch.manual_seed(0)
A = torch.rand(30, 30, dtype=torch.double) + 30 * torch.eye(30, dtype=torch.double)
b, x, k = torch.rand(30, 4, dtype=torch.double), torch.rand(30, 30, dtype=torch.double), 5
d = torch.diag(torch.rand(30, dtype=torch.double))
v = torch.rand(30, dtype=torch.double)
"""
LINE = 8


def edited(edit: Any, line: str, **given: Any) -> str | None:
    after = edit(f"{SET_UP}y = {line}\n", LINE, **given)
    return None if after is None else str(after).splitlines()[-1].removeprefix("y = ")


def value(line: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(f"{SET_UP}y = {line}\n", namespace)
    return namespace["y"]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("torch.linalg.inv(A) @ b", "torch.linalg.solve(A, b)"),
        ("torch.inverse(A) @ b[:, 0]", "torch.linalg.solve(A, b[:, 0])"),
        ("linalg.inv(A + x) @ (b * 2)", "torch.linalg.solve(A + x, b * 2)"),
        ("(torch.linalg.inv(A) @ b).sum()", "(torch.linalg.solve(A, b)).sum()"),
        ("torch.linalg.inv(A) @ b @ b.T", "torch.linalg.solve(A, b) @ b.T"),
        ("b.T @ torch.linalg.inv(A)", None),
        ("torch.linalg.inv(A)", None),
        ("torch.linalg.inv(*[A]) @ b", None),
        ("torch.linalg.pinv(A) @ b", None),
    ],
)
def test_inverses(line: str, after: str | None) -> None:
    assert edited(solve_instead, line) == after
    if after is not None:
        torch.testing.assert_close(value(after), value(line))


@pytest.mark.parametrize(
    ("line", "how", "after"),
    [
        ("d @ x", "left", "d.diagonal()[:, None] * x"),
        ("d @ v", "left vector", "d.diagonal() * v"),
        ("x @ d", "", "x * d.diagonal()"),
        ("v @ d", "vector", "v * d.diagonal()"),
        ("(d @ x.T).sum()", "left", "(d.diagonal()[:, None] * x.T).sum()"),
        ("d @ x @ d", "left", None),
        ("d @ x.abs()", "left", None),
        ("d + x", "left", None),
    ],
)
def test_diagonal_matrices(line: str, how: str, after: str | None) -> None:
    assert edited(scale_instead, line, left="left" in how, vector="vector" in how) == after
    if after is not None:
        torch.testing.assert_close(value(after), value(line))


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("torch.linalg.svd(b)", "torch.linalg.svd(b, full_matrices=False)"),
        ("linalg.svd(b, full_matrices=True)[1]", "linalg.svd(b, full_matrices=False)[1]"),
        ("torch.linalg.svd(b, True)[1]", None),
        ("torch.linalg.svd(b, full_matrices=False)", None),
        ("torch.svd(b)", None),
    ],
)
def test_decompositions(line: str, after: str | None) -> None:
    assert edited(reduced_svd, line) == after
    if after is not None and after.endswith("]"):
        torch.testing.assert_close(value(after), value(line))


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("x.argsort(dim=1, descending=True)[:, :k]", "x.topk(k, dim=1).indices"),
        ("x.argsort(descending=True)[:, :5]", "x.topk(5, dim=-1).indices"),
        ("torch.argsort(x, dim=-1)[:, :k]", "x.topk(k, dim=-1, largest=False).indices"),
        ("b[:, 0].argsort()[:k]", "b[:, 0].topk(k, dim=-1, largest=False).indices"),
        ("x.argsort(dim=0)[:, :k]", None),
        ("x.argsort(dim=1)[:k, :]", None),
        ("x.argsort(dim=1)[:, :k:2]", None),
        ("x.argsort(dim=1, stable=True)[:, :k]", None),
        ("x.argsort(1)[:, :k]", None),
        ("x.sort(dim=1).values[:, :k]", None),
    ],
)
def test_sorts(line: str, after: str | None) -> None:
    assert edited(topk_instead, line) == after
    if after is not None:
        assert torch.equal(value(after), value(line))


@pytest.mark.parametrize("edit", [solve_instead, reduced_svd, topk_instead])
def test_what_is_no_python_or_has_two(edit: Any) -> None:
    assert edit("y = (", 1) is None
    twice = "y = torch.linalg.inv(A) @ b + torch.linalg.inv(A) @ b, linalg.svd(b), linalg.svd(b)"
    assert edit(f"from torch import linalg\n{twice}, x.argsort()[:1], x.argsort()[:2]\n", 2) is None


@pytest.mark.parametrize(
    ("made", "then", "after"),
    [
        ("A = B.float()", "y = A @ x", "A = B.float().to_sparse_csr()"),
        ("A = B * 2.0", "y = A @ x", "A = (B * 2.0).to_sparse_csr()"),
        ("A = (B * 2.0)", "y = (A @ x).relu() + A @ x", None),
        ("A = B / B.sum(1)  # rows", "for i in range(3): x = A @ x", "A = (B / B.sum(1)).to_sparse_csr()  # rows"),
        ("A = B.float()", "y = A @ x; y = A * 2", None),
        ("A = B.float()", "y = x @ A", None),
        ("A = B.float(); A = A + 1", "y = A @ x", None),
        ("A = C = B.float()", "y = A @ x", None),
        ("if True: A = B.float()", "y = A @ x", None),
        ("A = B.float()", "y = step(A) @ x", None),
    ],
)
def test_made_sparse_once(made: str, then: str, after: str | None) -> None:
    changed = sparse_once(f"import torch\n{made}\n{then}\n", 3)
    assert (None if changed is None else changed.splitlines()[1:]) == (None if after is None else [after, then])
