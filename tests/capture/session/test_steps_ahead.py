"""A cell whose text trains has slow steps, if none were seen; one that only sets a mode has none."""

from __future__ import annotations

import pytest
import torch

from gpuprof.capture.base.options import CaptureOptions
from gpuprof.capture.session.steps_ahead import StepsAhead

MIB = 1024**2
# of 208 bytes each
EVENTS = 60_000 * 208


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
    assert StepsAhead(CaptureOptions(), text).patience_ns


@pytest.mark.parametrize("text", ["model.train()", "m.train(False)", "net.train(mode=True)", "x = constraint(y)"])
def test_words_that_do_not(text: str) -> None:
    assert not StepsAhead(CaptureOptions(), text).patience_ns


@pytest.fixture
def optimizer() -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)


@pytest.mark.usefixtures("optimizer")
def test_steps_are_expected_until_the_first_was_seen() -> None:
    for source in ("optimizer.step()", None):
        ahead = StepsAhead(CaptureOptions(), source)
        assert ahead.without(0) and ahead.expected(0)
        assert not ahead.without(1) and not ahead.expected(1)


@pytest.mark.usefixtures("optimizer")
def test_none_are_expected_where_the_text_does_not_train_or_the_time_was_asked_for() -> None:
    assert not StepsAhead(CaptureOptions(), "model(x)").expected(0)
    asked = StepsAhead(CaptureOptions(max_seconds=5.0), "optimizer.step()")
    assert not asked.without(0) and not asked.expected(0)


@pytest.mark.usefixtures("optimizer")
def test_of_an_evaluation_before_the_first_step_60_000_events_are_enough() -> None:
    ahead, before = StepsAhead(CaptureOptions(), "optimizer.step()"), 500 * MIB
    for gradients, grown, enough in [
        (True, 0, False),
        (False, 30 * MIB, False),  # before it
        (False, 0, False),
        (False, EVENTS, False),
        (False, EVENTS + 1, True),
        (True, EVENTS + 1, False),
        (False, 2 * EVENTS, False),  # a single look has nothing to compare with
        (False, 3 * EVENTS + 1, True),
    ]:
        ahead.looked(gradients, before + grown)
        assert ahead.evaluated_enough(0) is enough
    assert not ahead.evaluated_enough(1)


@pytest.mark.usefixtures("optimizer")
def test_such_events_take_more_with_their_details() -> None:
    ahead = StepsAhead(CaptureOptions(memory=True), "optimizer.step()")
    for grown in (0, 0, EVENTS + 1):
        ahead.looked(False, grown)
    assert not ahead.evaluated_enough(0)
