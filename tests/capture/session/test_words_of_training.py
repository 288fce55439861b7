"""A cell whose text trains has slow steps, if none were seen; one that only sets a mode has none."""

from __future__ import annotations

import pytest

from gpuprof.capture.session.watch import _TRAINS


@pytest.mark.parametrize(
    "text",
    [
        "loss.backward()",
        "optimizer.step()",
        "model.fit(x, y)",
        "train(model, data)",
        "    train_epoch(model)",
        "trainer.train()",
        "self.train_one_epoch(data)",
        "Trainer(model).fit(data)",
        "def train(net):",
    ],
)
def test_words_that_train(text: str) -> None:
    assert _TRAINS.search(text)


@pytest.mark.parametrize("text", ["model.train()", "m.train(False)", "net.train(mode=True)", "x = constraint(y)"])
def test_words_that_do_not(text: str) -> None:
    assert not _TRAINS.search(text)
