"""Loops that a look found from the middle on, each operator a letter; and gradients of one example at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.turns.separate_turns import SeparateTurns
from gpuprof.analyses.turns.turn_breaks import from_break
from gpuprof.analyses.turns.turns import loops
from tests.support.looked_runs import looked_at

N = 20


def parted(text: str, least: int = 4) -> list[list[str]] | None:
    """The turns of its loop, by run."""
    keys = np.array([ord(letter) for letter in text], np.int64)
    loop = next(iter(loops(keys, np.ones(len(keys), bool), least, 0.8)))
    found = from_break(keys, loop, least, 0.8)
    if found is None:
        return None
    return [[text[start:end] for start, end in zip(run.starts, run.ends, strict=True)] for run in found.runs]


def test_where_the_loop_ends_in_the_midst_of_a_turn() -> None:
    """The text repeats abcd; the look begins with c, and between two runs comes xy."""
    found = parted("cd" + "abcd" * 6 + "xy" + "abcd" * 6 + "ab")
    assert found is not None
    # operators end in the midst of a turn
    assert found[0] == ["abcd"] * 6 and found[1][:6] == ["abcd"] * 6 and len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "abcd" * 12,
        "cd" + "abcd" * 12,
        # too few turns on either side
        "cd" + "abcd" * 4 + "xy" + "abcd" * 4 + "ab",
    ],
)
def test_turns_without_such_a_place(text: str) -> None:
    assert parted(text, 5) is None


def steps(carried: bool) -> Iterator[Any]:
    """Two steps with the gradients of each example, clipped. `carried`: each changes what the next one reads."""
    torch.manual_seed(0)
    net, x, y = torch.nn.Linear(6, 3), torch.randn(N, 6), torch.arange(N) % 3
    for _ in range(3):
        total = [torch.zeros_like(each) for each in net.parameters()]
        for xi, yi in zip(x, y, strict=True):
            loss = torch.nn.functional.cross_entropy(net(xi[None]), yi[None])
            # the look begins here
            yield loss
            own = torch.autograd.grad(loss, list(net.parameters()))
            scale = (1 / torch.stack([each.square().sum() for each in own]).sum().sqrt()).clamp(max=1)
            for whole, each in zip(total, own, strict=True):
                whole.add_(each * scale)
            if carried:
                with torch.no_grad():
                    x.mul_(scale)
        with torch.no_grad():
            for weight, each in zip(net.parameters(), total, strict=True):
                weight.sub_(each / N)
    yield net


@pytest.mark.parametrize("carried", [False, True])
def test_gradients_of_each_example_from_the_middle_of_one_on(carried: bool) -> None:
    running = steps(carried)
    next(running)
    found = Results(looked_at(lambda look: list(running))).get(SeparateTurns).loops
    assert bool(found) is not carried
    if found:
        assert found[0].gradients and found[0].turns >= N - 1 and found[0].share > 0.5


@pytest.mark.parametrize("skipped", range(1, 12))
def test_gradients_of_each_example_from_any_operator_of_the_first_on(skipped: int) -> None:
    """Within one step, where nothing stands between two runs of the loop."""

    def clipped() -> Iterator[Any]:
        net, x, y = torch.nn.Linear(6, 3), torch.randn(2 * N, 6), torch.arange(2 * N) % 3
        total = [torch.zeros_like(each) for each in net.parameters()]
        for xi, yi in zip(x, y, strict=True):
            loss = torch.nn.functional.cross_entropy(net(xi[None]), yi[None])
            yield
            own = torch.autograd.grad(loss, list(net.parameters()))
            yield
            scale = torch.stack([each.square().sum() for each in own]).sum().sqrt()
            for whole, each in zip(total, own, strict=True):
                part = each * scale
                yield
                whole.add_(part)
                yield

    running = clipped()
    for _ in range(skipped):
        next(running)
    (found,) = Results(looked_at(lambda look: list(running))).get(SeparateTurns).loops
    assert found.gradients
