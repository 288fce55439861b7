from __future__ import annotations

from typing import Any

import pytest

import gpuprof
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.run import Run
from tests.frameworks.stopwatch import (
    CLASSES,
    FEATURES,
    Stopwatch,
    above_low,
    finding,
    is_near,
    makers,
    optimizer_is_exact,
    samples,
    steps,
)

keras = pytest.importorskip("keras")
from keras.src.backend.torch.trainer import TorchTrainer  # noqa: E402
from keras.src.optimizers.base_optimizer import BaseOptimizer  # noqa: E402


def model() -> Any:
    dense = [keras.layers.Dense(256, activation="relu") for _ in range(3)]
    made = keras.Sequential([keras.layers.Input((FEATURES,)), *dense, keras.layers.Dense(CLASSES)])
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss, metrics=["accuracy"])
    return made


def fit(model: Any, epochs: int, held_out: int = 1024, count: int = 2048) -> Run:
    features, target = (each.numpy() for each in samples(count).tensors)
    validation = tuple(each.numpy() for each in samples(held_out).tensors)
    with gpuprof.profile() as run:
        model.fit(features, target, batch_size=32, epochs=epochs, validation_data=validation, verbose=0)
    return run


def test_a_healthy_fit() -> None:
    optimizer, evaluation = Stopwatch(), Stopwatch()
    fitted = model()
    with optimizer.on(BaseOptimizer, "apply"), evaluation.on(TorchTrainer, "evaluate"):
        run = fit(fitted, 4)
    assert steps(run) == int(fitted.optimizer.iterations) == optimizer.calls == 256
    assert optimizer_is_exact(run, optimizer)
    assert is_near(run, optimizer, Phase.OPTIMIZER)
    assert is_near(run, evaluation, Phase.EVALUATION)
    assert above_low(run) == []
    assert makers(run) == {"keras"}


def test_validation_after_each_short_epoch() -> None:
    run = fit(model(), 8, held_out=1024, count=64)
    assert steps(run) == 16
    assert "`fit(..., validation_freq=5)`" in finding(run, "evaluation_share").change
