"""When open figures are a fault."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.model.context import PyplotFigures
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Abstention, Finding, Severity
from gpuprof.rules.memory.figures_left_open import FiguresLeftOpen
from tests.rules.cases.memory.figures_left_open import drawn


def check(trace: Trace) -> Finding | Abstention | None:
    return FiguresLeftOpen().check(Results(trace))


@pytest.mark.parametrize(
    ("left", "most", "grown_mib", "expected"),
    [
        (10, 10, 200, Severity.MEDIUM),
        (10, 10, 0, Severity.LOW),
        (9, 9, 200, None),
        # closed by the notebook at the end of the cell
        (0, 10, 200, Severity.MEDIUM),
        (0, 10, 0, None),
        (0, 9, 200, None),
        (9, 12, 200, Severity.MEDIUM),
    ],
)
def test_by_their_number_and_the_memory(left: int, most: int, grown_mib: float, expected: Severity | None) -> None:
    found = check(drawn(PyplotFigures(left=left, most=most), grown_mib=grown_mib).build())
    assert (found.severity if isinstance(found, Finding) else found) == expected


def test_without_memory_they_are_told_all_the_same() -> None:
    found = check(drawn(PyplotFigures(left=12, most=12), memory=False).build())
    assert isinstance(found, Finding) and found.severity is Severity.LOW
    assert "grown_bytes" not in found.evidence and found.where.lines == (3,)
    assert found.explanation == (
        "12 figures that the cell opened with pyplot are still open when it has ended: pyplot keeps them in memory, "
        "with their images and canvases, until they are closed."
    )


def test_figures_that_the_notebook_closes() -> None:
    found = check(drawn(PyplotFigures(left=0, most=34)).build())
    assert isinstance(found, Finding) and found.title == "34 matplotlib figures are open at a time"
    assert found.explanation.startswith("34 figures were open at a time, and were closed only at the end of the cell:")
    assert found.change.startswith("Close each figure as soon as it is saved or shown")


@pytest.mark.parametrize("source", ["train()\n", "fig = plt.figure()\nfor step in range(9):\n    train()\n"])
def test_a_cell_that_makes_no_figures_again_and_again_lacks_nothing(source: str) -> None:
    assert check(drawn(None, source=source).build()) is None
