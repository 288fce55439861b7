"""The optimizer's share of a fit on a real device, by weighted samples, against a stopwatch on the host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch
from torch import nn

import gpuprof
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.run import Run

pytestmark = pytest.mark.gpu
STEPS, OWN_OPERATORS = 600, {"aten::resolve_conj", "aten::resolve_neg"}


def fit(folder: Path, device: str) -> tuple[Run, int]:
    """The run, and ns in steps of the optimizer and `zero_grad`."""
    model = nn.Sequential(*(nn.Linear(512, 512) for _ in range(8))).to(device)
    optimizer, spent_ns = torch.optim.AdamW(model.parameters(), foreach=True), 0
    data = torch.randn(256, 512, device=device)
    with gpuprof.profile(folder=folder) as run:
        for _ in range(STEPS):
            model(data).square().mean().backward()
            began_ns = time.perf_counter_ns()
            optimizer.step()
            optimizer.zero_grad()
            spent_ns += time.perf_counter_ns() - began_ns
    return run, spent_ns


def test_the_optimizers_share_is_the_stopwatchs(tmp_path: Path) -> None:
    run, spent_ns = fit(tmp_path, "cuda")
    window, phases = run.trace.context.window, run.report_data.results.get(CellPhases)
    assert window is not None and phases.sampled
    true_share = spent_ns / (window.cell_end_ns - window.cell_start_ns)
    assert phases.share(Phase.OPTIMIZER) == pytest.approx(true_share, abs=0.05)


def test_looks_of_our_own_are_not_in_the_recording(tmp_path: Path) -> None:
    run, _ = fit(tmp_path, "cuda")
    operators = run.trace.operators
    called_by_none = set(operators["name"][operators["parent"] < 0].tolist())
    assert not OWN_OPERATORS & {run.trace.names[each] for each in called_by_none}
