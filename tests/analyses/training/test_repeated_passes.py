"""Which backward passes run over a graph again, as torch records them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from torch import nn

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.repeated_passes import RepeatedPasses
from gpuprof.ingest.load import load_trace
from gpuprof.model.trace import Trace
from tests.analyses.random_runs import runs
from tests.rules.cases.training.repeated_backward import LAYERS, PASSES, steps

STEPS, HEADS = 3, 4


class Tasks:
    """A trunk, heads, and an optimizer of both."""

    def __init__(self) -> None:
        self.trunk = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh())
        self.heads = nn.ModuleList(nn.Linear(8, 1) for _ in range(HEADS))
        self.parameters = [*self.trunk.parameters(), *self.heads.parameters()]
        self.optimizer = torch.optim.SGD(self.parameters, lr=0.1)

    def losses(self) -> list[torch.Tensor]:
        hidden = self.trunk(torch.ones(2, 8))
        return [head(hidden).sum() for head in self.heads]

    def one_by_one(self) -> None:
        for loss in self.losses():
            loss.backward(retain_graph=True)
            loss.item()

    def together(self) -> None:
        torch.stack(self.losses()).sum().backward()

    def gradients_taken(self) -> None:
        taken = []
        for loss in self.losses():
            loss.backward(retain_graph=True)
            taken.append([each.grad.clone() for each in self.parameters if each.grad is not None])

    def zeroed_between(self) -> None:
        for loss in self.losses():
            self.optimizer.zero_grad()
            loss.backward(retain_graph=True)

    def clipped(self) -> None:
        for loss in self.losses():
            loss.backward(retain_graph=True)
            nn.utils.clip_grad_norm_(self.parameters, 1.0)

    def parts_of_a_batch(self) -> None:
        for _ in range(3):
            self.together()

    def penalized(self) -> None:
        for _ in range(2):
            x = torch.ones(2, 8, requires_grad=True)
            out = self.heads[0](self.trunk(x)).tanh().sum()
            (slope,) = torch.autograd.grad(out, x, create_graph=True)
            (out + slope.pow(2).sum()).backward()


def profiled(folder: Path, tasks: Tasks, step: Callable[[], None]) -> RepeatedPasses:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        for number in range(STEPS):
            with torch.profiler.record_function(f"ProfilerStep#{number}"):
                tasks.optimizer.zero_grad()
                step()
                tasks.optimizer.step()
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    return found(load_trace(path))


def found(trace: Trace) -> RepeatedPasses:
    return Results(trace).get(RepeatedPasses)


def test_losses_that_go_back_one_by_one_repeat_their_trunk(tmp_path: Path) -> None:
    tasks = Tasks()
    repeated = profiled(tmp_path, tasks, tasks.one_by_one)
    assert repeated.repeats == STEPS * (HEADS - 1) and repeated.passes == HEADS
    assert repeated.nodes == 9  # three layers, each with its activation and the transposed weight
    assert repeated.again.total_ns > 0


@pytest.mark.parametrize(
    "how", ["together", "gradients_taken", "zeroed_between", "clipped", "parts_of_a_batch", "penalized"]
)
def test_passes_that_have_to_be(tmp_path: Path, how: str) -> None:
    tasks = Tasks()
    assert profiled(tmp_path, tasks, getattr(tasks, how)).nodes == 0


def test_the_time_of_the_nodes_that_run_again() -> None:
    repeated = found(steps(20).build())
    assert repeated.nodes == LAYERS and repeated.repeats == 10 * (PASSES - 1) and repeated.passes == PASSES
    assert repeated.again.total_ns == 10 * (PASSES - 1) * LAYERS * 25_000


def test_as_many_operators_between_as_there_are_gradients_may_read_them() -> None:
    assert found(steps(20, between=LAYERS - 1).build()).nodes
    assert not found(steps(20, between=LAYERS).build()).nodes
    assert not found(steps(20, apart=True).build()).nodes


@given(runs())
def test_any_run(trace: Trace) -> None:
    repeated = found(trace)
    assert 0 <= repeated.again.total_ns <= trace.span_ns or not repeated.nodes
    assert (repeated.nodes > 0) == (repeated.repeats > 0)
