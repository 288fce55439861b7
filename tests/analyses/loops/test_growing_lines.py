"""Lines that make a tensor longer in a loop."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loops.growing_lines import GrowingLines
from gpuprof.model.context import Cell
from tests.support.trace_builder import TraceBuilder


def growing(source: str | None) -> GrowingLines:
    builder = TraceBuilder().context(cell=Cell(source=source) if source is not None else None)
    return Results(builder.build()).get(GrowingLines)


LOOP = "%matplotlib inline\nfor x in rows:\n    y = model(x)\n    {}\nprint(v, w.v)\n"


@pytest.mark.parametrize(
    "line",
    [
        "v = torch.cat([v, y])",
        "v = torch.cat((y, v), dim=1)",
        "v = torch.cat(tensors=[v, y], dim=0)",
        "v = cat([v, y, y])",
        "w.v = torch.vstack([w.v, y])",
        "w['v'] = torch.concatenate([w['v'], y])",
        "v = torch.hstack((v, y)); n = len(v)",
        "v = y if v is None else torch.cat([v, y])",
        "if v is not None: v = torch.cat([v, y])",
        "v = torch.cat([v, y]); print(v.shape, v.size(0))",
    ],
)
def test_a_tensor_that_only_grows(line: str) -> None:
    assert growing(LOOP.format(line)) == GrowingLines((4,), ())


@pytest.mark.parametrize(
    "line",
    [
        "v = torch.cat([v, y]); z = model(v)",
        "v = torch.cat([v, y]); z = v[-1]",
        "v = torch.cat([v, f(v)])",
        "w.v = torch.cat([w.v, y]); show(w.v)",
    ],
)
def test_a_tensor_that_the_loop_reads(line: str) -> None:
    assert growing(LOOP.format(line)) == GrowingLines((), (4,))


@pytest.mark.parametrize(
    "line",
    [
        "v = np.concatenate([v, y])",
        "v = torch.cat([w, y])",
        "v = torch.cat(pieces)",
        "v = torch.cat([v])",
        "v = torch.stack([v, y])",
        "z = torch.cat([v, y])",
        "def add(): v = torch.cat([v, y])",
    ],
)
def test_other_lines(line: str) -> None:
    assert growing(LOOP.format(line)) == GrowingLines((), ())


def test_the_inner_loop_decides() -> None:
    source = (
        "for epoch in range(3):\n    v = torch.empty(0)\n    for x in y:\n        v = torch.cat([v, x])\n    show(v)\n"
    )
    assert growing(source) == GrowingLines((4,), ())


def test_the_condition_of_a_while_is_read_in_each_turn() -> None:
    assert growing("while v.sum() < 1:\n    v = torch.cat([v, x])\n").read == (2,)


@pytest.mark.parametrize("source", [None, "for x in", "v = torch.cat([v, x])", "!ls\n\x00"])
def test_no_loop_no_lines(source: str | None) -> None:
    assert growing(source) == GrowingLines((), ())
