"""Lines that ask for double precision."""

from __future__ import annotations

import pytest

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.float64_lines import Float64Lines
from gpuprof.model.context import Cell
from tests.support.trace_builder import TraceBuilder


def lines(source: str | None) -> Float64Lines:
    builder = TraceBuilder().context(cell=Cell(source=source) if source is not None else None)
    return Results(builder.build()).get(Float64Lines)


@pytest.mark.parametrize(
    "line",
    [
        "model = Net().double()",
        "model.to(torch.float64)",
        "x = x.to(device, dtype=torch.double)",
        "x = torch.zeros(3, 4, dtype=torch.float64)",
        "torch.set_default_dtype(torch.float64)",
        "x = torch.DoubleTensor(rows)",
        "x = y.type(torch.float64)",
        "set_default_dtype(torch.float64)",
    ],
)
def test_it_is_asked_for(line: str) -> None:
    assert lines(f"%matplotlib inline\n{line}\n") == Float64Lines((2,), ())


@pytest.mark.parametrize(
    "line", ["x = torch.from_numpy(table)", "x = torch.as_tensor(a).to(device)", "x = from_numpy(table)"]
)
def test_numpys_numbers_may_be_double(line: str) -> None:
    assert lines(line) == Float64Lines((), (1,))


@pytest.mark.parametrize(
    "line",
    [
        "total = torch.zeros((), dtype=torch.float64)",
        "total = torch.tensor(0.0, dtype=torch.float64)",
        "total = torch.zeros(1, dtype=torch.float64)",
        "total = tensor(0.0, dtype=torch.float64)",
        "x = torch.from_numpy(table).float()",
        "x = torch.from_numpy(table).to(device).float()",
        "x = torch.from_numpy(table).to(device, torch.float32)",
        "x = torch.from_numpy(table.astype('float32'))",
        "x = torch.as_tensor(kinds, dtype=torch.int64)",
        "y = torch.from_numpy(kinds).long()",
        "x = torch.zeros(3, 4)",
        "double = 2",
    ],
)
def test_other_lines(line: str) -> None:
    assert lines(line) == Float64Lines((), ())


@pytest.mark.parametrize("source", [None, "for x in", "!ls\n\x00"])
def test_no_source_no_lines(source: str | None) -> None:
    assert lines(source) == Float64Lines((), ())
