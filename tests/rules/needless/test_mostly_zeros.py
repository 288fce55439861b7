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
x, t, v, x3 = torch.rand(n, 96), torch.rand(300, 96), torch.rand(n), torch.rand(4, n, 32)
"""
LINE = 9
WIDE = "(A @ x.transpose(0, 1).reshape(N, -1)).view(-1, B, F).transpose(0, 1)"
TURNED = "(x.reshape(-1, N) @ A).view(B, F, -1)"


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
        ("return torch.mm(A, x)", "A matrix at line 9", "`A = A.to_sparse_csr()`; `A @ x` stays", None),
        ("return A @ v", "`A` at line 9", "`A @ x` stays", "A = (torch.rand(n, n) < 0.01).float().to_sparse_csr()"),
        ("return A.T @ x", "`A.T` at line 9", "`At = A.T.contiguous().to_sparse_csr()`, and use `At @ x`", None),
        ("return x.T @ A.t()", "`A.t()` at line 9", "`At = A.T.contiguous().to_sparse_csr()`, and use `x @ At`", None),
        ("return torch.einsum('nm,mf->nf', A, x)", "A matrix at line 9", f"write `{WIDE}`", None),
        ("return torch.einsum('nm,bmf->bnf', A, x3)", "A matrix at line 9", f"`(B, N, F)` write `{WIDE}`", None),
        ("return torch.einsum('bfn,nm->bfm', x3.mT, A)", "A matrix", f"`{TURNED}`", None),
        ("return x.T @ H", "`H` at line 9", "`torch.zeros(...).index_add_(1, ids, x)`", None),
        ("return t.T @ H.T", "`H.T` at line 9", "`x.index_select(1, ids)`", None),
    ],
)
def test_what_the_line_is_told(line: str, title: str, change: str, added: str | None) -> None:
    found = of_line(line)
    assert found is not None and found.where.lines == (LINE,)
    assert found.title.startswith(title) and change in found.change
    text = [each[1:] for each in (found.diff or "").splitlines() if each.startswith("+") and each[:3] != "+++"]
    assert text == ([added] if added else [])


@pytest.mark.filterwarnings("ignore:Sparse CSR:UserWarning")
@pytest.mark.parametrize(
    ("written", "dense", "x"),
    [
        (WIDE, "torch.einsum('nm,bmf->bnf', D, x)", (4, 60, 7)),
        (TURNED, "torch.einsum('bfn,nm->bfm', x, D)", (4, 7, 60)),
        ("D.T.contiguous().to_sparse_csr() @ x", "D.T @ x", (60, 7)),
        ("x @ D.T.contiguous().to_sparse_csr()", "x @ D.T", (4, 7, 60)),
    ],
)
def test_what_it_says_of_products_that_are_not_of_two_matrices_gives_the_same(
    written: str, dense: str, x: tuple[int, ...]
) -> None:
    import torch

    matrix = (torch.rand(60, 60) < 0.1).float()
    names = {"torch": torch, "A": matrix.to_sparse_csr(), "D": matrix, "x": torch.rand(x)}
    names |= {"B": x[0], "N": 60, "F": 7}
    torch.testing.assert_close(eval(written, names), eval(dense, names))


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
