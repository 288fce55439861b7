from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import gpuprof
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.run import Run
from tests.frameworks.stopwatch import (
    SlowSamples,
    Stopwatch,
    above_low,
    finding,
    is_near,
    makers,
    many_parameters,
    names_slow_samples,
    network,
    optimizer_is_exact,
    samples,
    steps,
)

accelerate = pytest.importorskip("accelerate")


def fit(model: nn.Module, data: Any, epochs: int, accumulated: int = 1, **settings: Any) -> tuple[Run, int]:
    """The run, and how often Accelerate let the optimizer step."""
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=accumulated)
    optimizer = torch.optim.Adam(model.parameters(), **settings)
    model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(data, 32, shuffle=True))
    loss_of, count = nn.CrossEntropyLoss(), 0
    with gpuprof.profile() as run:
        for _ in range(epochs):
            for features, target in loader:
                with accelerator.accumulate(model):
                    loss = loss_of(model(features), target)
                    accelerator.backward(loss)
                    optimizer.step()
                    optimizer.zero_grad()
                count += accelerator.sync_gradients
    return run, count


@pytest.mark.parametrize("accumulated", [1, 2])
def test_a_healthy_fit(accumulated: int) -> None:
    optimizer = Stopwatch()
    with optimizer.on(torch.optim.Adam, "step"):
        run, count = fit(network(), samples(4096), 3, accumulated, fused=True)
    assert steps(run) == count == optimizer.calls == 384 // accumulated
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert above_low(run) == []
    assert makers(run) == {"accelerate"}


def test_slow_samples() -> None:
    assert names_slow_samples(fit(network(), SlowSamples(512), 3, fused=True)[0])


def test_parameters_one_by_one() -> None:
    run, _ = fit(many_parameters(), samples(2048), 2, foreach=False)
    assert "`Adam(..., fused=True)`" in finding(run, "unfused_optimizer").change
