"""Which calls factorize the same matrix again and again; and where it changes."""

from __future__ import annotations

import pytest

from gpuprof.rules.cell.one_matrix import solved_with_one_matrix

HEAD = """import numpy as np
import scipy.linalg
from scipy.sparse.linalg import spsolve
A = np.load("a.npy")
"""
FUNCTION = HEAD + "def solve(b):\n    return np.linalg.solve(A, b)\nfor b in range(9):\n    x = solve(b)\n"


def found(source: str) -> list[tuple[int, str, bool]]:
    return [(each.first, each.matrix, each.sparse) for each in solved_with_one_matrix(source)]


@pytest.mark.parametrize(
    ("call", "sparse", "advice"),
    [
        ("np.linalg.solve(A, b)", False, "lu_factor"),
        ("scipy.linalg.solve(A, b)", False, "lu_factor"),
        ("np.linalg.lstsq(A, b)[0]", False, "np.linalg.qr"),
        ("spsolve(A, b + 1)", True, "splu(A.tocsc())"),
    ],
)
def test_in_a_loop(call: str, sparse: bool, advice: str) -> None:
    source = HEAD + f"for b in range(9):\n    x = {call}\n"
    assert found(source) == [(6, "A", sparse)]
    assert advice in solved_with_one_matrix(source)[0].advice


@pytest.mark.parametrize(
    "body",
    [
        "A = A + b; x = np.linalg.solve(A, b)",
        "A[0] = b; x = np.linalg.solve(A, b)",
        "A += b; x = np.linalg.solve(A, b)",
        "x = np.linalg.solve(A * b, b)",
        "x = np.linalg.inv(A)",
        "x = solve(A, b)",
    ],
)
def test_a_matrix_that_changes_or_no_solver(body: str) -> None:
    assert found(HEAD + f"for b in range(9):\n    {body}\n") == []


def test_in_a_function_that_a_loop_runs() -> None:
    assert found(FUNCTION) == [(6, "A", False)]
    assert found(FUNCTION.replace("    x = solve", "    A[b] = 0\n    x = solve")) == []
    assert found(FUNCTION.replace("solve(b):", "solve(b, A):")) == []
    assert found(FUNCTION.replace("solve(b):", "solve(b, A):").replace("solve(b)", "solve(b, A)")) == [(6, "A", False)]
    assert found(FUNCTION.replace("for b in range(9):\n    x", "if True:\n    x")) == []


def test_an_attribute() -> None:
    source = HEAD + (
        "class Filter:\n    def __init__(self, A):\n        self.A = A\n    def solve(self, b):\n"
        "        return np.linalg.solve(self.A, b)\n"
        "f = Filter(A)\nfor b in range(9):\n    x = f.solve(b)\n"
    )
    assert found(source) == [(9, "self.A", False)]
    assert found(source.replace("        return", "        self.A = self.A + 1\n        return")) == []


def test_where_nothing_is_known() -> None:
    assert found("for b in (") == []
