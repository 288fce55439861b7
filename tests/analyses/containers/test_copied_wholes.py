"""What is copied whole in each iteration to be made longer, and the near misses."""

from __future__ import annotations

import sysconfig

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.containers.copied_wholes import CopiedWholes
from gpuprof.model.context import Cell
from gpuprof.rules.base.finding import Finding, Severity
from gpuprof.rules.registry import rule
from tests.support.trace_builder import CELL_FILE, TraceBuilder

TORCH = """
model = Encoder()
def build(batches):
    index = torch.empty(0, 8)
    for bits in batches:
        index = {join}
        {more}
    return index
"""
LINE = 5
LIBRARY = sysconfig.get_paths()["purelib"]
CAT = "torch.cat([index, model(bits)])"


def run(join: str, more: str = "pass", *, below: str | None = None, share: float = 0.6) -> Results:
    """Of 10 s the line has `share`: in the function `below`, or in none of Python's."""
    source = TORCH.strip().format(join=join, more=more)
    builder = TraceBuilder()
    frames = [(CELL_FILE, "<module>", 8), (CELL_FILE, "build", LINE)]
    if below is not None:
        frames.append((f"{LIBRARY}/numpy/lib/_function_base_impl.py", below, 5600))
    for each in range(100):
        here = frames if each < 100 * share else [(CELL_FILE, "<module>", 9)]
        builder.stack(1 + 100_000 * each, 100_000, *here)
    return Results(builder.context(cell=Cell(source=source, filename=CELL_FILE)).build())


@pytest.mark.parametrize(
    ("join", "below"),
    [(CAT, None), ("torch.hstack((index, bits))", None), ("numpy.append(index, bits)", "append")],
)
def test_the_time_of_the_copies(join: str, below: str | None) -> None:
    (found,) = run(join, below=below).get(CopiedWholes).found
    assert found.accumulation.name == "index" and found.accumulation.line == LINE
    assert found.ns / found.cell_ns == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("join", "more", "below"),
    [
        ("torch.cat([index, bits @ weight])", "pass", None),  # the product may take the time
        ("torch.cat([index, torch.linalg.inv(bits)])", "pass", None),  # so may another call
        ("torch.cat([index, bits[1:]])", "pass", None),  # an index
        ("torch.stack([index, bits])", "pass", None),  # another axis
        (CAT, "pass", "interp"),  # the time is in something else
        (CAT, "index = index[-100:]", None),  # it stays short
        (CAT, "total = index.sum()", None),  # it is read
        ("torch.stack([index, bits]).sum(0) + 1", "pass", None),
    ],
)
def test_what_is_not_only_copied(join: str, more: str, below: str | None) -> None:
    assert run(join, more, below=below).get(CopiedWholes).found == ()


def test_the_finding() -> None:
    found = rule("growing_iterations").check(run(CAT))
    assert isinstance(found, Finding) and found.severity is Severity.HIGH
    assert found.title == "All of `index` is copied each time it gets longer: 60 % of the cell"
    assert found.explanation.startswith("Line 5 joins all of `index` with something new, which copies all of it")
    assert found.where.lines == (LINE,) and "pieces.append(x)" in found.change
    assert found.saving is not None and found.saving.share == pytest.approx(0.54)
    assert rule("growing_iterations").check(run(CAT, share=0.09)) is None
