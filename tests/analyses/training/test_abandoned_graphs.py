"""Graphs that nothing goes back through, as torch records them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
import torch
from hypothesis import given
from torch.utils.checkpoint import checkpoint

from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.abandoned_graphs import AbandonedGraphs
from gpuprof.ingest.load import load_trace
from gpuprof.model.context import Optimizer, Window
from gpuprof.model.trace import Trace
from tests.analyses.accounts.cells import cell, line
from tests.analyses.random_runs import runs
from tests.rules.cases.training.evaluation_share import SOURCE
from tests.rules.cases.training.grad_in_inference import beside
from tests.support.trace_builder import TraceBuilder

STEPS = 5


def abandoned(trace: Trace) -> AbandonedGraphs:
    return Results(trace).get(AbandonedGraphs)


def net() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Conv1d(1, 2, 1), torch.nn.Tanh())


def profiled(folder: Path, step: Callable[[torch.Tensor], torch.Tensor | None]) -> AbandonedGraphs:
    """`step` gives the loss to go back from, if any."""
    x = torch.ones(2, 1, 4)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        for number in range(STEPS):
            with torch.profiler.record_function(f"ProfilerStep#{number}"):
                loss = step(x)
                if loss is not None:
                    loss.backward()
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    return abandoned(load_trace(path))


def validating(around: AbstractContextManager[object], *, frozen: bool = False) -> Callable[..., torch.Tensor]:
    model, other = net(), net().requires_grad_(not frozen)

    def step(x: torch.Tensor) -> torch.Tensor:
        with around:
            other(x).argmax()
        return model(x).sum()

    return step


def test_a_validation_with_gradients_is_abandoned(tmp_path: Path) -> None:
    found = profiled(tmp_path, validating(nullcontext()))
    # that of the last step may get its backward pass yet
    assert found.known and found.count == STEPS - 1 and found.nodes >= 3 * found.count
    assert found.within.total_ns > 0 and found.model_share == 1.0 and found.phase is None


@pytest.mark.parametrize("around", [torch.no_grad(), torch.inference_mode()], ids=["no_grad", "inference_mode"])
def test_one_without_gradients_is_not(tmp_path: Path, around: AbstractContextManager[object]) -> None:
    found = profiled(tmp_path, validating(around))
    assert found.known and found.count == found.nodes == found.within.total_ns == 0


def test_nor_one_of_a_frozen_model(tmp_path: Path) -> None:
    assert profiled(tmp_path, validating(nullcontext(), frozen=True)).count == 0


def test_gradients_switched_off_elsewhere_lower_the_share(tmp_path: Path) -> None:
    teacher, step = net(), validating(nullcontext())

    def both(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            teacher(x)
        return step(x)

    found = profiled(tmp_path, both)
    assert found.count == STEPS - 1 and 0 < found.model_share < 1


def test_a_detached_teacher_is_abandoned(tmp_path: Path) -> None:
    model, teacher = net(), net()
    assert profiled(tmp_path, lambda x: (model(x) - teacher(x).detach()).sum()).count == STEPS - 1


def test_what_goes_back_later_is_not_abandoned(tmp_path: Path) -> None:
    """The generator's graph goes back after the discriminator's, which was made later."""
    generator, critic = net(), net()

    def step(x: torch.Tensor) -> torch.Tensor:
        fake = generator(x)
        critic(x).sum().backward()
        return fake.sum()

    assert profiled(tmp_path, step).count == 0


def test_losses_that_are_summed_up_are_not_abandoned(tmp_path: Path) -> None:
    model, losses = net(), list[torch.Tensor]()

    def step(x: torch.Tensor) -> torch.Tensor | None:
        losses.append(model(x).sum())
        return torch.stack(losses).sum() if len(losses) == STEPS - 1 else None

    assert profiled(tmp_path, step).count == 0


def test_recomputed_activations_are_not_abandoned(tmp_path: Path) -> None:
    model = net()

    def step(x: torch.Tensor) -> torch.Tensor:
        kept: torch.Tensor = checkpoint(model, x.requires_grad_(), use_reentrant=False)
        return kept.sum()

    assert profiled(tmp_path, step).count == 0


def test_without_a_backward_pass_nothing_is_known(tmp_path: Path) -> None:
    model = net()

    def step(x: torch.Tensor) -> None:
        model(x)

    assert not profiled(tmp_path, step).known


@pytest.mark.parametrize(
    ("ended_by", "optimizers", "count"), [("cell", 1, 4), ("steps", 1, 3), ("steps", 2, 2), ("seconds", 1, 2)]
)
def test_the_last_step_counts_where_it_is_whole(ended_by: str, optimizers: int, count: int) -> None:
    """Three steps that evaluate first, and an evaluation after the last pass."""
    builder = beside(last=True).context(
        window=Window(ended_by=ended_by), optimizers=(Optimizer(name="Adam", parameters=1, elements=1),) * optimizers
    )
    assert abandoned(builder.build()).count == count


def test_after_the_last_step_of_all_no_pass_comes() -> None:
    """The same, recorded until no step had come for long."""
    over = beside(last=True).context(window=Window(ended_by="pause", steps_seen=3, steps_recorded=3))
    assert abandoned(over.build()).count == 4
    on = beside(last=True).context(window=Window(ended_by="pause", steps_seen=9, steps_recorded=3))
    assert abandoned(on.build()).count == 2


def test_the_sampled_phase_of_most_of_it() -> None:
    builder = beside().stack(0, 10_000, ("/home/me/net.py", "evaluate", 3))
    assert abandoned(builder.build()).phase is Phase.OTHER
    assert abandoned(TraceBuilder().build()).phase is None


def searching(function: str, *, calls: tuple[int, int] = (4, 4)) -> AbandonedGraphs:
    """Three steps: passes whose graphs are dropped and one whose graph is used, from these lines of the cell."""
    builder = beside()
    for at in range(0, 3000, 1000):
        for since, call in ((at, calls[0]), (at + 300, calls[1])):
            builder.stack(since, 300, line(call), line(8, function))
    return abandoned(cell(builder, ends_ms=(0, 1, 2, 3), source=SOURCE))


def test_a_call_whose_graphs_are_used_at_times_abandons_none() -> None:
    assert searching("objective").count == 0
    assert searching("objective", calls=(4, 3)).count == 2


def test_an_evaluation_abandons_its_graphs_though_training_calls_the_same_line() -> None:
    assert searching("validate").count == 2


@given(runs())
def test_any_run(trace: Trace) -> None:
    found = abandoned(trace)
    assert found.nodes >= 3 * found.count and 0 <= found.model_share <= 1
    assert found.within.total_ns <= trace.span_ns
