from __future__ import annotations

import pytest
import torch

import gpuprof
from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.phase import Phase
from tests.frameworks.stopwatch import Stopwatch, finding, is_near, optimizer_is_exact, steps

baselines = pytest.importorskip("stable_baselines3")


def test_a_healthy_fit() -> None:
    optimizer = Stopwatch()
    with optimizer.on(torch.optim.Adam, "step"):
        model = baselines.PPO("MlpPolicy", "CartPole-v1", n_steps=512, batch_size=64, n_epochs=4, device="cpu")
        with gpuprof.profile() as run:
            model.learn(2048)
    # its own count is of passes over the rollout
    assert steps(run) == model._n_updates * 512 // 64 == optimizer.calls == 128
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert run.report_data.results.get(CellPhases).share(Phase.INFERENCE) > 0.1
    assert {each.maker for each in run.trace.context.optimizers} == {"stable_baselines3"}


def test_parameters_one_by_one() -> None:
    settings = {"optimizer_kwargs": {"foreach": False}, "net_arch": [32] * 12}
    model = baselines.PPO(
        "MlpPolicy", "CartPole-v1", n_steps=256, batch_size=32, n_epochs=4, device="cpu", policy_kwargs=settings
    )
    with gpuprof.profile() as run:
        model.learn(512)
    change = finding(run, "unfused_optimizer").change
    assert "`policy_kwargs=dict(optimizer_kwargs=dict(fused=True))`" in change
