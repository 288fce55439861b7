"""What counts as a step and what does not."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from gpuprof.verification.cells.hooks import Hooks, Listener


class Losses(Listener):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def backward(self, roots: Any) -> None:
        self.seen.append(roots)


def test_a_compiler_that_traces_makes_no_step() -> None:
    hooks, losses = Hooks(), Losses()
    with hooks.installed(), hooks.listening(losses):
        with FakeTensorMode():
            weight = torch.ones(3, requires_grad=True)
            torch.autograd.grad(weight.sum(), weight)
        assert losses.seen == []
        torch.ones(3, requires_grad=True).sum().backward()
    assert len(losses.seen) == 1
