"""Matrices that are factored each time, where no look saw it."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import Cell
from gpuprof.model.operands import Operand, Operands
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.reads.factored_again import factored_again
from gpuprof.rules.registry import rule
from tests.support.trace_builder import CELL_FILE, TraceBuilder

SOLVES = """B = make()
def flows(B, load):
    theta = torch.linalg.solve(B, load[:, None])
    return theta[:, 0]
for hour in range(336):
    x = flows(B, loads[hour])
"""


def results(source: str = SOLVES, *, elements: int = 700 * 700, kind: str = "torch.Tensor", line: int = 3) -> Results:
    """Of 1 s, half of it in that line."""
    builder = TraceBuilder().operator("aten::empty", 0, 0.5).operator("aten::mm", 980_000, 20_000)
    called = (CELL_FILE, "<module>", 6)
    for part in range(10):
        at = part * 100_000 + 1
        builder.stack(at, 50_000, called, (CELL_FILE, "flows", line))
        builder.stack(at + 50_000, 50_000, called)
    matrix = Operand(file=CELL_FILE, first=2, last=4, name="B", kind=kind, looks=9, fewest_elements=elements)
    cell = Cell(source=source, filename=CELL_FILE)
    return Results(builder.context(cell=cell, operands=Operands(looks=9, seen=(matrix,))).build())


def test_the_time_of_the_statement_but_for_the_solving() -> None:
    found = factored_again(results())
    assert found is not None and (found.matrix, found.rows) == ("B", 700)
    assert found.share == pytest.approx(0.5 * 0.9)
    small = factored_again(results(elements=96 * 96))
    assert small is not None and small.share == pytest.approx(0.5 * 2 / 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("linalg.solve(B,", "linalg.solve(load,"),
        ("    x = flows", "    B[0] = hour\n    x = flows"),
        ("    x = flows", "    B = B + 1\n    x = flows"),
        ("    x = flows", "    flows(B, 0)\n    x = flows"),
        ("torch.linalg.solve", "other.solve"),
        ("for hour in range(336)", "while hour"),
    ],
)
def test_a_matrix_that_changes_or_is_not_known(old: str, new: str) -> None:
    assert old in SOLVES and factored_again(results(SOLVES.replace(old, new))) is None


def test_small_matrices_and_other_things() -> None:
    assert factored_again(results(elements=40 * 40)) is None
    assert factored_again(results(kind="numpy.ndarray")) is None
    assert factored_again(results("B = make(")) is None


def test_the_finding() -> None:
    finding = rule("costly_algorithm").check(results())
    assert isinstance(finding, Finding) and finding.severity is Severity.HIGH
    assert finding.where.lines == (3,) and finding.saving is not None
    assert finding.title == "The same matrix is factored each time at line 3: factor it once"
    assert "factors `B` (700 rows), which the loop around it does not change" in finding.explanation
