"""What is said of matrices of mostly zeros, by their pattern, in cells that really run under the close look."""

from __future__ import annotations

import math

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.kinds import ZeroPattern
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.needless import mostly_zeros as case
from tests.rules.needless.test_product_order import looked_cell

SET_UP = """import torch; torch.manual_seed(0)
n = 400
A = (torch.rand(n, n) < 0.01).float()
D = torch.zeros(n, n)
D[range(n), range(n)] = torch.rand(n) + 1
H = torch.nn.functional.one_hot(torch.arange(n) * 7 % 300, 300).float()
x, t, v = torch.rand(n, 96), torch.rand(300, 96), torch.rand(n)
"""
LINE = 9


def said(trace: Trace) -> Finding | None:
    answer = rule("mostly_zeros").check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def of_line(line: str) -> Finding | None:
    return said(looked_cell(f"{SET_UP}def step():\n    {line}\n", "step()"))


@pytest.mark.parametrize(
    ("line", "title", "change", "added"),
    [
        (
            "return A @ x",
            "`A` at line 9 is multiplied as dense, and has 9",
            "`A = A.to_sparse_csr()`; `A @ x` stays",
            "A = (torch.rand(n, n) < 0.01).float().to_sparse_csr()",
        ),
        (
            "return D @ x",
            "`D` at line 9 is multiplied as dense, and is diagonal",
            "Scale rows at line 9 instead of multiplying: `D.diagonal()[:, None] * x`",
            "    return D.diagonal()[:, None] * x",
        ),
        ("return D @ v", "`D` at line 9", "`D.diagonal() * x`", "    return D.diagonal() * v"),
        ("return x.T @ D", "`D` at line 9", "Scale columns at", "    return x.T * D.diagonal()"),
        ("return H @ t", "`H` at line 9 is multiplied as dense, and is one-hot", "`table[ids]`", None),
        ("return H.T @ x", "`H.T` at line 9", "`torch.zeros(...).index_add_(0, ids, x)`", None),
        ("return x.T @ A", "`A` at line 9", "`x @ A` stays", None),
        ("return torch.mm(A, x)", "A matrix at line 9", "`A = A.to_sparse_csr()`", None),
    ],
)
def test_what_the_line_is_told(line: str, title: str, change: str, added: str | None) -> None:
    found = of_line(line)
    assert found is not None and found.where.lines == (LINE,)
    assert found.title.startswith(title) and change in found.change
    text = [each[1:] for each in (found.diff or "").splitlines() if each.startswith("+") and each[:3] != "+++"]
    assert text == ([added] if added else [])


def test_healthy_lines() -> None:
    for line in (
        "return x.T @ x",
        "return torch.relu(torch.randn(n, n) - 2.5) @ x",
        "return A * A",
        "return (A + 1) @ x",
    ):
        assert of_line(line) is None


def test_zeros_that_were_not_counted() -> None:
    """On a GPU by default, and in recordings of before."""
    answer = rule("mostly_zeros").check(Results(case.looked(50, zeros_share=math.nan, device="cuda:0")))
    assert isinstance(answer, Abstention) and "--inspect" in answer.how
    assert said(case.looked(4.9, zeros_share=math.nan)) is None


@pytest.mark.parametrize("pattern", list(ZeroPattern))
def test_each_pattern_is_named(pattern: ZeroPattern) -> None:
    found = said(case.looked(50, pattern=pattern))
    assert found is not None and found.evidence["pattern"] == pattern.name.lower()
