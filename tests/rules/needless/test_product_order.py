"""What the rule says of real cells."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from benchmarks.rounds.b import c05_sinkhorn_colours as sinkhorn
from gpuprof.analyses.basics.result import Results
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.model.context import Cell, RunContext
from gpuprof.model.trace import Source, Trace, empty_tables
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.registry import rule
from tests.rules.cases.needless import product_order as case


def said(trace: Trace) -> Finding | None:
    answer = rule("product_order").check(Results(trace))
    assert not isinstance(answer, Abstention)
    return answer


def looked_cell(source: str, repeated: str) -> Trace:
    """The cell has run; then three looked-at iterations of an expression with its names."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<cell>", "exec"), namespace)
    look = CloseLook("<cell>", iterations=3, most_seconds=60.0)
    with look:
        for _ in range(3):
            eval(repeated, namespace)
            look.iteration_ended()
    tables, facts = look.result()
    assert facts.iterations == 3
    named = {table.schema.name: table for table in tables}
    context = RunContext(look=msgspec.structs.replace(facts, operators_share=1.0), cell=Cell(source=source))
    return Trace(Source("look"), facts.names, {**empty_tables(), **named}, 0, 1, context=context)


def test_dense_diagonal_matrices_in_optimal_transport() -> None:
    """The cell of the second round, smaller, without its last part, which prints."""
    faulty, cured = (
        text.partition("total = 0.0")[0].replace("N, PAIRS, ITERS = 700, 6, 60", "N, PAIRS, ITERS = 192, 1, 4")
        for text in (sinkhorn.FAULTY, sinkhorn.CURED)
    )
    call = "sinkhorn(palette(0, N), palette(1, N))"
    found = said(looked_cell(faulty, call))
    assert found is not None and found.where.lines == (14,)
    assert found.evidence["order"] == "(diag(u) @ K) @ diag(v)"
    assert found.evidence["cheapest_order"] == "u[:, None] * K * v"
    assert found.evidence["flops_each"] == 2 * 2 * 192**3
    assert "(2 of 3 are diagonal)" in found.explanation
    assert found.change.startswith("Scale rows and columns instead of multiplying by a diagonal matrix at line 14: `u[")
    assert found.diff is None
    assert said(looked_cell(cured, call)) is None


SET_UP = "import torch\na, b, x, v = (torch.rand(n) for n in ((300, 300), (300, 300), (300, 1), (300,)))\n"


@pytest.mark.parametrize(
    ("line", "order", "cheapest", "after"),
    [
        ("return a @ b @ x", "(a @ b) @ x", "a @ (b @ x)", "return a @ (b @ x)"),
        ("return v @ (a @ b)", "v @ (a @ b)", "(v @ a) @ b", "return (v @ a) @ b"),
        ("return (a @ b.T) @ v", "(a @ b.T) @ v", "a @ (b.T @ v)", "return a @ (b.T @ v)"),
        ("return a @ b @ x.abs()", "(a @ b) @ x.abs()", "a @ (b @ x.abs())", None),
        ("return torch.mm(torch.mm(a, b), x)", "(A @ B) @ C", "A @ (B @ C)", None),
        ("return torch.diag(v) @ a", "diag(v) @ a", "v[:, None] * a", None),
        ("return a @ (torch.eye(300) * v)", "A @ diag(u)", "A * u", None),
    ],
)
def test_what_the_line_is_told(line: str, order: str, cheapest: str, after: str | None) -> None:
    source = f"{SET_UP}def step():\n    {line}\n"
    found = said(looked_cell(source, "step()"))
    assert found is not None and found.where.lines == (4,)
    assert (found.evidence["order"], found.evidence["cheapest_order"]) == (order, cheapest)
    assert f"at line 4: `{cheapest}`" in found.change
    added = [each[1:].strip() for each in (found.diff or "").splitlines() if each.startswith("+ ")]
    assert added == ([after] if after else [])


GRAPH = """import torch
torch.manual_seed(0)
dense = (torch.rand(1500, 1500) < 0.02).float()
a, x, w = dense.to_sparse(), torch.rand(1500, 600), torch.rand(600, 4)
"""


def test_a_sparse_product_of_wide_features() -> None:
    source = f"{GRAPH}def step():\n    return a @ x @ w\n"
    found = said(looked_cell(source, "step()"))
    assert found is not None and found.where.lines == (6,)
    assert (found.evidence["order"], found.evidence["cheapest_order"]) == ("(a @ x) @ w", "a @ (x @ w)")
    assert str(found.evidence["matrices"]).startswith("1500×1500 (sparse, 4") and "entries)" in found.explanation
    assert "The sparse product then has 4 columns instead of 600." in found.explanation
    assert found.diff is not None and "+    return a @ (x @ w)" in found.diff
    lettered = said(looked_cell(source.replace("a @ x @ w", "torch.sparse.mm(a, x) @ w"), "step()"))
    assert lettered is not None and lettered.diff is None and "`A @ (B @ C)`" in lettered.change
    assert said(looked_cell(source.replace("a @ x @ w", "torch.sparse.mm(a, x @ w)"), "step()")) is None


def test_two_lines_are_named_with_letters_and_left_as_they_are() -> None:
    source = f"{SET_UP}def step():\n    product = a @ b\n    return product @ x\n"
    found = said(looked_cell(source, "step()"))
    assert found is not None and found.where.lines == (4, 5) and found.diff is None
    assert "`(A @ B) @ C`" in found.explanation


def test_small_differences_are_not_told() -> None:
    assert said(case.looked(50, columns=500)) is not None
    assert said(case.looked(50, columns=501)) is None


def test_code_that_torch_does_not_see_may_read_what_is_between() -> None:
    answer = rule("product_order").check(Results(case.looked(50, unseen_writes=1)))
    assert isinstance(answer, Abstention) and "who reads the results" in answer.needs
