from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from torch import nn

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

pytest.importorskip("fastai.callback.progress")  # which gives a Learner its `no_bar`
from fastai.callback.core import Callback
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
from fastai.losses import CrossEntropyLossFlat
from fastai.optimizer import Optimizer, OptimWrapper


class Steps(Callback):  # type: ignore[misc]
    count = 0

    def after_step(self) -> None:
        self.count += 1


def fit(model: nn.Module, data: Any, epochs: int, **settings: Any) -> tuple[Run, int]:
    """The run, and how often fastai's own callback was told of a step."""
    loaders = DataLoaders(DataLoader(data, bs=32, shuffle=True), DataLoader(samples(1024), bs=64))
    counter = Steps()
    learner = Learner(loaders, model, loss_func=CrossEntropyLossFlat(), cbs=[counter], **settings)
    with learner.no_bar(), learner.no_logging(), gpuprof.profile() as run:
        learner.fit(epochs)
    return run, counter.count


def test_a_healthy_fit() -> None:
    optimizer, evaluation = Stopwatch(), Stopwatch()
    with optimizer.on(Optimizer, "step"), evaluation.on(Learner, "_do_epoch_validate"):
        run, count = fit(network(), samples(4096), 3)
    assert steps(run) == count == optimizer.calls == 384
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert is_near(run, evaluation, Phase.EVALUATION)
    assert above_low(run) == []
    assert makers(run) == {"fastai"}
    (known,) = run.trace.context.optimizers
    assert known.elements == sum(each.numel() for each in network().parameters())


def test_with_an_optimizer_of_torch() -> None:
    run, count = fit(network(), samples(1024), 2, opt_func=partial(OptimWrapper, opt=torch.optim.AdamW, fused=True))
    assert steps(run) == count == 64
    assert [(each.name, each.fused) for each in run.trace.context.optimizers] == [("AdamW", True)]


def test_slow_samples() -> None:
    assert names_slow_samples(fit(network(), SlowSamples(1536), 3)[0])


def test_parameters_one_by_one() -> None:
    own = partial(OptimWrapper, opt=torch.optim.AdamW, foreach=False)
    run, _ = fit(many_parameters(), samples(2048), 2, opt_func=own)
    assert "`Learner(..., opt_func=partial(OptimWrapper" in finding(run, "unfused_optimizer").change


def test_its_own_step_is_put_back() -> None:
    before = vars(Optimizer)["step"]
    fit(network(), samples(64), 1)
    assert vars(Optimizer)["step"] is before
