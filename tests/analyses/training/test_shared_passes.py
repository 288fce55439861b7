"""Which backward passes go through one graph for single gradients, as torch records them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.shared_passes import SharedPasses
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs

OUTPUTS = 12


def results_of(x: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = torch.sin(x).roll(1) * x
    return x


def row_by_row(x: torch.Tensor, outputs: int = OUTPUTS) -> list[torch.Tensor]:
    return [torch.autograd.grad(out, x, retain_graph=True)[0] for out in results_of(x)[:outputs]]


def few(x: torch.Tensor) -> list[torch.Tensor]:
    return row_by_row(x, 5)


def together(x: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad(results_of(x), x, torch.eye(OUTPUTS), is_grads_batched=True)[0]


def a_graph_each(x: torch.Tensor) -> list[torch.Tensor]:
    return [torch.autograd.grad(results_of(x)[each], x)[0] for each in range(OUTPUTS)]


def added_up(x: torch.Tensor) -> None:
    for out in results_of(x):
        out.backward(retain_graph=True)


def profiled(folder: Path, step: Callable[[torch.Tensor], object]) -> SharedPasses:
    x = torch.rand(OUTPUTS, requires_grad=True)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        step(x)
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    return Results(load_trace(path)).get(SharedPasses)


def test_a_jacobian_row_by_row(tmp_path: Path) -> None:
    found = profiled(tmp_path, row_by_row)
    assert found.passes == OUTPUTS
    assert found.during.total_ns > 0 and 0.2 < found.saved_part <= 1 - 3 / OUTPUTS


@pytest.mark.parametrize("step", [few, together, a_graph_each, added_up])
def test_other_passes(tmp_path: Path, step: Callable[[torch.Tensor], object]) -> None:
    """Few outputs, all in one call, a graph for each, and gradients that are added up: that has a rule of its own."""
    assert profiled(tmp_path, step).during.total_ns == 0


@given(runs())
def test_any_run(trace: Trace) -> None:
    found = Results(trace).get(SharedPasses)
    assert 0 <= found.during.total_ns <= trace.span_ns or not found.passes
    assert 0 <= found.saved_part <= 1
