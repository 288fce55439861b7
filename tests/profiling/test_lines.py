"""At least 95 % of the host's time of a real run is on the right line."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
import torch

import gpuprof
from gpuprof.analyses.line_places import LinePlaces
from gpuprof.analyses.result import Results
from gpuprof.analyses.source_lines import SourceLines

pytestmark = pytest.mark.skipif(sys.version_info < (3, 12), reason="every line is only known from Python 3.12 on")


def wait_elsewhere() -> None:
    time.sleep(0.006)  # elsewhere


def work(x: torch.Tensor) -> None:
    for _ in range(5):
        time.sleep(0.02)  # long
        y = x @ x  # product
        time.sleep(0.01)  # short
        wait_elsewhere()
        y = y + (time.sleep(0.004) or 1)  # both
    y.sum().item()


def line_of(mark: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, text in enumerate(lines, 1) if f"# {mark}" in text)


def test_sleeps_and_operators_are_on_their_lines(tmp_path: Path) -> None:
    x = torch.randn(64, 64)
    with gpuprof.profile(folder=tmp_path, no_nvml=True) as run:
        work(x)

    results = Results(run.trace)
    lines, places = results.get(SourceLines), results.get(LinePlaces)
    own_ms = {int(line): ns / 1e6 for line, ns in zip(lines.table["line"], lines.table["host_ns"], strict=True)}
    for mark, least_ms in {"long": 100, "short": 50, "elsewhere": 30, "both": 20}.items():
        assert least_ms * 0.99 <= own_ms[line_of(mark)] <= least_ms * 1.3 + 10, mark
    assert lines.host_ns >= 0.95 * lines.within_ns
    operators = run.trace.operators.take(run.trace.operators["parent"] < 0)
    at = places.events["line"][places.at(operators["thread"], operators["start_ns"])]
    for name, mark in {"aten::matmul": "product", "aten::add": "both"}.items():
        found = at[run.trace.names_of(operators) == name]
        assert len(found) == 5 and (found == line_of(mark)).all(), name
