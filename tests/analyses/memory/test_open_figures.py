"""Where figures are made, and what memory grew while the cell drew."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.memory.open_figures import OpenFigures, _making_lines
from gpuprof.model.context import PyplotFigures
from tests.rules.cases.memory.figures_left_open import MIB, drawn


def test_what_grew_in_lines_that_draw() -> None:
    found = Results(drawn(PyplotFigures(left=3, most=7)).build()).get(OpenFigures)
    assert found == OpenFigures(True, 3, 7, (3,), 200 * MIB, (6,))


def test_little_is_not_told() -> None:
    found = Results(drawn(PyplotFigures(left=3, most=7), grown_mib=60).build()).get(OpenFigures)
    assert (found.grown_bytes, found.grown_lines) == (0, ())


def test_what_was_not_looked_at() -> None:
    found = Results(drawn(None).build()).get(OpenFigures)
    assert (found.known, found.left, found.most) == (False, 0, 0) and found.lines == (3,)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("fig = plt.figure()", ()),
        ("for x in xs:\n    plt.figure()\n    plt.plot(x)", (2,)),
        ("def draw(x):\n    fig, ax = subplots()\n    return fig", (2,)),
        ("while True:\n    fig, axes = plt.subplot_mosaic('AB')", (2,)),
        ("for x in xs:\n    ax.plot(x)", ()),
        ("for x in xs:\n    makers[0](x)", ()),
        ("%%no python(", ()),
    ],
)
def test_the_lines_that_make_them_again_and_again(source: str, lines: tuple[int, ...]) -> None:
    assert _making_lines(source) == lines
