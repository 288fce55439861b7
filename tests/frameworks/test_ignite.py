from __future__ import annotations

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

pytest.importorskip("ignite")
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy


def engines(model: nn.Module, when: Any = Events.EPOCH_COMPLETED, held_out: int = 1024, **settings: Any) -> Any:
    trainer = create_supervised_trainer(model, torch.optim.Adam(model.parameters(), **settings), nn.CrossEntropyLoss())
    evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy()})
    validation = DataLoader(samples(held_out), 64)
    trainer.add_event_handler(when, lambda _: evaluator.run(validation))
    return trainer


def fit(trainer: Any, data: Any, epochs: int) -> Run:
    loader = DataLoader(data, 32, shuffle=True)
    with gpuprof.profile() as run:
        trainer.run(loader, max_epochs=epochs)
    return run


def test_a_healthy_fit() -> None:
    optimizer = Stopwatch()
    with optimizer.on(torch.optim.Adam, "step"):
        trainer = engines(network(), fused=True)
        run = fit(trainer, samples(4096), 4)
    assert steps(run) == trainer.state.iteration == optimizer.calls == 512
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert above_low(run) == []
    assert makers(run) == {"ignite"}


def test_slow_samples() -> None:
    assert names_slow_samples(fit(engines(network(), fused=True), SlowSamples(512), 3))


def test_parameters_one_by_one() -> None:
    run = fit(engines(many_parameters(), foreach=False), samples(2048), 2)
    assert "`Adam(..., fused=True)`" in finding(run, "unfused_optimizer").change


def test_validation_after_each_step() -> None:
    trainer = engines(network(), Events.ITERATION_COMPLETED, held_out=4096, fused=True)
    evaluation = Stopwatch()
    validate = evaluation.around(trainer._event_handlers[Events.ITERATION_COMPLETED][-1][0])
    trainer._event_handlers[Events.ITERATION_COMPLETED] = [(validate, (trainer,), {})]
    run = fit(trainer, samples(512), 1)
    assert steps(run) == trainer.state.iteration == evaluation.calls == 16
    assert is_near(run, evaluation, Phase.EVALUATION, Phase.DATA)
    assert run.report_data.results.get(Evaluations).steps_between == 1
    assert "`Events.EPOCH_COMPLETED(every=5)`" in finding(run, "evaluation_share").change
