"""What is said of costly algorithms, in cells that really run under the close look."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.costly_algorithms import Algorithm
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.memory.broadcast_then_reduced import BroadcastThenReduced
from gpuprof.rules.needless.costly_algorithm import _CHANGES
from gpuprof.rules.registry import rule
from tests.rules.needless.test_product_order import looked_cell

SET_UP = """import torch
import torch.nn.functional as F
torch.set_num_threads(1)
G = torch.rand(300, 300) + 300 * torch.eye(300)
b, wave, room = torch.rand(300, 2), torch.rand(1, 1, 16_000), torch.rand(1, 1, 3_000)
p, q = torch.rand(300, 40), torch.rand(200, 40)
"""
LINE = 8


def said(trace: Trace) -> Finding | None:
    answer = rule("costly_algorithm").check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def looked(line: str) -> Trace:
    return looked_cell(f"{SET_UP}def step():\n    {line}\n", "step()")


@pytest.mark.parametrize(
    ("line", "title", "change", "added"),
    [
        (
            "return F.conv1d(wave, room)",
            "The long convolution at line 8 is faster by FFT",
            "torch.fft.rfft(x, n)",
            None,
        ),
        (
            "return torch.linalg.inv(G) @ b",
            "The inverse at line 8 is only multiplied: solve instead",
            "`torch.linalg.solve(A, b)`",
            "    return torch.linalg.solve(G, b)",
        ),
        (
            "return ((p[:, None] - q[None]) ** 2).sum(-1)",
            "Distances at line 8 go through all differences",
            "`torch.cdist(a, b)` at line 8",
            None,
        ),
        (
            "return (p[:, None] * q[None]).sum(-1)",
            "Products at line 8 are written out to be summed: use a matrix product",
            "`a @ b.T` instead of `(a[:, None] * b[None]).sum(-1)`",
            None,
        ),
    ],
)
def test_what_the_line_is_told(line: str, title: str, change: str, added: str | None) -> None:
    found = said(looked(line))
    assert found is not None and found.title == title and found.where.lines == (LINE,)
    assert change in found.change
    text = [each[1:] for each in (found.diff or "").splitlines() if each.startswith("+ ")]
    assert text == ([added] if added else [])


def test_healthy_lines() -> None:
    for line in (
        "return F.conv1d(wave, room[..., :31])",
        "return torch.linalg.solve(G, b)",
        "return torch.cdist(p, q)",
        "return torch.linalg.inv(G)",
    ):
        assert said(looked(line)) is None


def test_a_broadcast_whose_memory_is_told_is_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = looked("return ((p[:, None] - q[None]) ** 2).sum(-1)")
    found = said(trace)
    monkeypatch.setattr(BroadcastThenReduced, "check", lambda self, results: found)
    assert found is not None and said(trace) is None
    assert said(looked("return F.conv1d(wave, room)")) is not None


def written(algorithm: Algorithm, *beginnings: str) -> list[str]:
    """The pieces of code in the change, those that begin so: in order, one of each."""
    pieces = re.findall(r"`([^`]+)`", _CHANGES[algorithm])
    return [next(piece for piece in pieces if piece.startswith(each)) for each in beginnings]


def executed(pieces: list[str], **names: Any) -> dict[str, Any]:
    known = {"torch": torch, **names}
    for piece in pieces:
        exec(piece, known)
    return known


@pytest.mark.parametrize("padding", [0, 3, 19])
@pytest.mark.parametrize(("channels", "shape", "groups"), [(1, (1, 1, 20), 1), (3, (4, 3, 20), 1), (3, (3, 1, 20), 3)])
def test_the_convolution_as_written_gives_the_numbers_of_conv1d(
    channels: int, shape: tuple[int, ...], groups: int, padding: int
) -> None:
    torch.manual_seed(0)
    x, weight, bias = torch.randn(2, channels, 100), torch.randn(shape), torch.randn(shape[0])
    product = "y = torch.fft.irfft(X" if groups > 1 else "y = torch.fft.irfft(torch.einsum"
    pieces = written(Algorithm.CONVOLUTION, "k = ", "n = ", "X, K = ", product, "y = y[")
    y = executed(pieces, x=x, weight=weight, padding=padding)["y"]
    expected = torch.nn.functional.conv1d(x, weight, bias, padding=padding, groups=groups)
    (added,) = written(Algorithm.CONVOLUTION, "bias")
    torch.testing.assert_close(y + eval(added, {"bias": bias}), expected, rtol=1e-4, atol=1e-4)


def test_solves_as_written_take_columns_and_rows() -> None:
    torch.manual_seed(0)
    A, b = torch.randn(6, 6) + 6 * torch.eye(6), torch.randn(6)
    wanted = torch.linalg.solve(A, b)
    pieces = written(Algorithm.FACTORED_AGAIN, "lu, pivots = ", "torch.linalg.lu_solve", "b[:, None]", ".squeeze(-1)")
    known = executed(pieces[:1], A=A)
    column = eval(pieces[2], {"b": b})
    solved = eval(f"torch.linalg.lu_solve(lu, pivots, b){pieces[3]}", {**known, "b": column})
    torch.testing.assert_close(solved, wanted)
    right, before, row, dropped = written(
        Algorithm.INVERSE, "torch.linalg.solve(A, b, left", "b @ ", "b[None]", ".squeeze(0)"
    )
    solved = eval(f"{right}{dropped}", {"torch": torch, "A": A, "b": eval(row, {"b": b})})
    torch.testing.assert_close(solved, eval(before, {"torch": torch, "A": A, "b": b}))


@pytest.mark.parametrize(
    ("text", "twice"),
    [
        ("loss.backward()", False),
        ("gradient = torch.autograd.grad(energy, x, create_graph=True)", True),
        ("H = torch.func.hessian(energy)(x)", True),
        ("H = jacrev(torch.func.grad(energy))(x)", True),
        ("loss.backward(create_graph=False)  # create_graph=True", False),
    ],
)
def test_cdist_is_no_advice_where_derivatives_are_differentiated(text: str, twice: bool) -> None:
    trace = looked_cell(
        f"{SET_UP}def step():\n    return ((p[:, None] - q[None]) ** 2).sum(-1)\ndef train():\n    {text}\n", "step()"
    )
    found = said(trace)
    assert (found is None) is twice
    assert found is None or "donot_use_mm_for_euclid_dist" in found.change
