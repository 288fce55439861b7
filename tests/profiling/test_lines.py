"""At least 95 % of the host's time of a real run is on the right line: the cell measures what each line costs."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

import gpuprof
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_costs import LineCosts
from gpuprof.analyses.lines.line_places import LinePlaces
from tests.support.busy import busy

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="every line is only known from Python 3.12 on")

SPENT: Counter[str] = Counter()  # ns, by the mark of the line, as the lines themselves measure it


def spin_elsewhere() -> None:
    SPENT["elsewhere"] += busy(6)  # elsewhere


def work(x: torch.Tensor) -> None:
    for _ in range(5):
        SPENT["long"] += busy(20)  # long
        y = x @ x  # product
        SPENT["short"] += busy(3)  # short
        spin_elsewhere()
        y = y + (y.sum() > 0)  # sum
    SPENT["late"] += busy(30)  # late
    y.sum().item()


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if f"# {mark}" in text)


def test_time_that_the_cell_measured_and_operators_are_on_their_lines(tmp_path: Path) -> None:
    x = torch.randn(64, 64)
    with gpuprof.profile(folder=tmp_path, no_nvml=True) as run:
        work(x)

    results = Results(run.trace)
    lines, places = results.get(LineCosts), results.get(LinePlaces)
    own_ns = dict(zip(lines.table["line"].tolist(), lines.table["host_ns"].tolist(), strict=True))
    right_ns = {mark: min(spent, own_ns[line_of(mark)]) for mark, spent in SPENT.items()}
    assert all(right_ns[mark] >= 0.95 * spent for mark, spent in SPENT.items()), (right_ns, SPENT)
    assert lines.host_ns >= 0.95 * lines.within_ns
    operators = run.trace.operators.take(run.trace.operators["parent"] < 0)
    at = places.events["line"][places.at(operators["thread"], operators["start_ns"])]
    for name, mark in {"aten::matmul": "product", "aten::add": "sum"}.items():
        found = at[run.trace.names_of(operators) == name]
        assert len(found) == 5 and (found == line_of(mark)).all(), name
