"""What is said of costly algorithms, in cells that really run under the close look."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.memory.broadcast_then_reduced import BroadcastThenReduced
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
