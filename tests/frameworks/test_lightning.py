from __future__ import annotations

import logging
import warnings
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

import gpuprof
from gpuprof.analyses.accounts.evaluations import Evaluations
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

L = pytest.importorskip("lightning")


class Classifier(L.LightningModule):
    def __init__(self, net: nn.Module, **settings: Any):
        super().__init__()
        self.net, self.loss, self.settings = net, nn.CrossEntropyLoss(), settings

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        loss = self.loss(self.net(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, _: int) -> None:
        self.log("validation", self.loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), **self.settings)


@pytest.fixture(autouse=True)
def quiet() -> None:
    warnings.filterwarnings("ignore", module="lightning")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def trainer(**settings: Any) -> Any:
    off = ("logger", "enable_checkpointing", "enable_model_summary", "enable_progress_bar")
    return L.Trainer(accelerator="cpu", **dict.fromkeys(off, False), **settings)


def fit(trainer: Any, model: Any, data: Any, validation: Any = None) -> Run:
    train = DataLoader(data, 32, shuffle=True)
    measured = None if validation is None else DataLoader(validation, 64)
    with gpuprof.profile() as run:
        trainer.fit(model, train, measured)
    return run


def test_a_healthy_fit() -> None:
    optimizer, evaluation = Stopwatch(), Stopwatch()
    loop = pytest.importorskip("lightning.pytorch.loops.evaluation_loop")._EvaluationLoop
    fitting = trainer(max_epochs=4)
    with optimizer.on(torch.optim.Adam, "step"), evaluation.on(loop, "run"):
        run = fit(fitting, Classifier(network(), fused=True), samples(4096), samples(512))
    assert steps(run) == fitting.global_step == optimizer.calls == 512
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert is_near(run, evaluation, Phase.EVALUATION)
    assert above_low(run) == []
    assert makers(run) == {"lightning"}


def test_slow_samples() -> None:
    run = fit(trainer(max_epochs=3), Classifier(network(), fused=True), SlowSamples(512))
    assert names_slow_samples(run)


def test_parameters_one_by_one() -> None:
    run = fit(trainer(max_epochs=2), Classifier(many_parameters(), foreach=False), samples(2048))
    found = finding(run, "unfused_optimizer")
    assert found.change.startswith("In `configure_optimizers`, make it `Adam(..., fused=True)`.")


def test_validation_after_each_step() -> None:
    fitting = trainer(max_epochs=1, val_check_interval=1)
    run = fit(fitting, Classifier(network(), fused=True), samples(1024), samples(4096))
    assert steps(run) == fitting.global_step == 32
    assert run.report_data.results.get(Evaluations).steps_between == 1
    assert "`Trainer(val_check_interval=..., limit_val_batches=...)`" in finding(run, "evaluation_share").change


def test_manual_optimization_with_two_optimizers() -> None:
    class Two(Classifier):
        automatic_optimization = False

        def training_step(self, batch: Any, _: int) -> None:
            for optimizer in self.optimizers():
                optimizer.zero_grad()
                self.manual_backward(self.loss(self.net(batch[0]), batch[1]))
                optimizer.step()

        def configure_optimizers(self) -> Any:
            return [torch.optim.Adam(self.net[0].parameters()), torch.optim.SGD(self.net[-1].parameters(), lr=0.1)]

    run = fit(trainer(max_epochs=1), Two(network()), samples(2048))
    assert steps(run) == 64
    assert [each.steps for each in run.trace.context.optimizers] == [64, 64]
