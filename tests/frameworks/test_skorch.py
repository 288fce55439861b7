from __future__ import annotations

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

skorch = pytest.importorskip("skorch")


def net(module: nn.Module, **settings: Any) -> Any:
    fixed = {"criterion": nn.CrossEntropyLoss, "optimizer": torch.optim.Adam, "batch_size": 32, "verbose": 0}
    return skorch.NeuralNetClassifier(module, lr=1e-3, **{**fixed, **settings})


def fit(net: Any, data: Any) -> Run:
    with gpuprof.profile() as run:
        net.fit(data, None)
    return run


def test_a_healthy_fit() -> None:
    from skorch.helper import predefined_split

    optimizer, evaluation = Stopwatch(), Stopwatch()
    fitting = net(network(), max_epochs=4, train_split=predefined_split(samples(1024)), optimizer__fused=True)
    with optimizer.on(torch.optim.Adam, "step"), evaluation.on(skorch.NeuralNet, "validation_step"):
        run = fit(fitting, samples(4096))
    trained = sum("train_loss" in batch for epoch in fitting.history for batch in epoch["batches"])
    assert steps(run) == trained == optimizer.calls == 512
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert is_near(run, evaluation, Phase.EVALUATION)
    assert above_low(run) == []
    assert makers(run) == {"skorch"}


def test_slow_samples() -> None:
    assert names_slow_samples(fit(net(network(), max_epochs=3, train_split=None), SlowSamples(512)))


def test_parameters_one_by_one() -> None:
    run = fit(net(many_parameters(), max_epochs=2, train_split=None, optimizer__foreach=False), samples(2048))
    assert finding(run, "unfused_optimizer").change.startswith("Give the net `optimizer__fused=True`.")


def test_its_prefixed_arguments_reach_torch() -> None:
    fitting = net(
        network(),
        optimizer__fused=True,
        iterator_train__num_workers=1,
        iterator_train__persistent_workers=True,
        train_split=None,
    ).initialize()
    assert fitting.optimizer_.param_groups[0]["fused"] is True
    loader = fitting.get_iterator(fitting.get_dataset(samples(64)), training=True)
    assert (loader.num_workers, loader.persistent_workers) == (1, True)
