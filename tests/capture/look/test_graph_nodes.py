"""Graphs that torch records: which of them the look finds dropped, and which it must leave alone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.dropped_graphs import DroppedGraphs
from gpuprof.capture.look.close_look import CloseLook
from gpuprof.capture.look.graph_nodes import GraphNodes
from gpuprof.model.kinds import NodeFate
from tests.support.looked_runs import looked_at

X = torch.linspace(-1, 1, 24).reshape(6, 4)


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 1))


def dropped(code: Callable[[], Any]) -> DroppedGraphs:
    return Results(looked_at(lambda _: code())).get(DroppedGraphs)


def draws() -> tuple[torch.Tensor, torch.Tensor]:
    model = net()
    drawn = torch.stack([model(X).squeeze(1) for _ in range(5)])
    return drawn.mean(0).detach(), drawn.std(0).detach()


def validation() -> float:
    model, total = net(), 0.0
    for _ in range(3):
        total += functional.mse_loss(model(X), X[:, :1]).item()
    return total


def teacher() -> None:
    student, other = net(), net()
    for _ in range(2):
        aim = other(X).detach()
        functional.mse_loss(student(X), aim).backward()


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.part = net()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.part(x).tanh()


@pytest.mark.parametrize(("code", "count"), [(draws, 1), (validation, 3), (teacher, 2)])
def test_a_graph_that_is_freed_unused_is_dropped(code: Callable[[], Any], count: int) -> None:
    found = dropped(code)
    assert found.known and found.count == count
    assert found.kept_bytes["cpu"] > 0 and found.share > 0


def test_it_is_told_by_the_line_that_calls_the_model() -> None:
    model = Model()

    def evaluate() -> float:
        return model(X).sum().item()

    trace = looked_at(lambda _: evaluate())
    found = Results(trace).get(DroppedGraphs)
    look = trace.context.look
    assert look is not None
    lines = {(look.places[each].function.rpartition(".")[2], look.places[each].line) for each in found.places}
    first = evaluate.__code__.co_firstlineno
    assert lines == {("evaluate", first + 1)}


def test_without_gradients_there_is_nothing_to_drop() -> None:
    @torch.no_grad()
    def quiet() -> object:
        return draws()

    assert dropped(quiet).count == dropped(lambda: net().requires_grad_(False)(X)).count == 0


def trained() -> None:
    model = net()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        out = model(X)
        loss = functional.mse_loss(out, X[:, :1])
        # a metric of what is trained on costs next to nothing
        out.softmax(0).mul(2).max().item()
        loss.backward()
        optimizer.step()


def gradient_penalty() -> None:
    model = net()
    for _ in range(2):
        x = X.clone().requires_grad_()
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        slope.norm(dim=1).sub(1).square().mean().backward()


def double_backward() -> list[torch.Tensor]:
    x = X.clone().requires_grad_()
    y = net()(x).pow(3).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    return [second]


def activation_maximisation() -> torch.Tensor:
    model, x = net(), X.clone().requires_grad_()
    for _ in range(3):
        (slope,) = torch.autograd.grad(model(x).mean(), x)
        x = (x + 0.1 * slope).detach().requires_grad_()
    return x


def inner_loop() -> None:
    model = net()
    weights = dict(model.named_parameters())
    inner = torch.func.functional_call(model, weights, (X,)).square().mean()
    slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
    moved = {name: each - 0.1 * slope for (name, each), slope in zip(weights.items(), slopes, strict=True)}
    torch.func.functional_call(model, moved, (X,)).square().mean().backward()


def accumulated() -> None:
    model = net()
    total = torch.zeros(())
    for _ in range(4):
        total = total + model(X).mean()
    total.backward()


def truncated_time() -> None:
    cell = nn.GRUCell(4, 4)
    state = torch.zeros(6, 4)
    for _ in range(3):
        total = torch.zeros(())
        for _ in range(3):
            state = cell(X, state)
            total = total + state.square().mean()
        total.backward()
        state = state.detach()


def log_probabilities() -> None:
    policy, kept = net(), []
    for _ in range(4):
        probability = policy(X).sigmoid()
        action = torch.bernoulli(probability.detach())
        kept.append((probability * action).log1p().sum())
    torch.stack(kept).sum().backward()


def checkpointed(reentrant: bool) -> Callable[[], None]:
    def code() -> None:
        model = net()
        checkpoint(model, X.clone().requires_grad_(), use_reentrant=reentrant).sum().backward()

    return code


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.detach().numpy() * 2)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(gradient.numpy() * 2)


def own_function() -> None:
    Doubled.apply(net()(X)).sum().backward()


def sum_of_parameters() -> None:
    """Nodes through which the gradient is handed on without an operator."""
    bias, other = (torch.zeros(6, 4, requires_grad=True) for _ in range(2))
    for _ in range(2):
        Doubled.apply((bias + other).clone()).sum().backward()


def adversaries() -> None:
    maker, judge = net(), nn.Linear(1, 1)
    for _ in range(2):
        fake = maker(X)
        judge(fake.detach()).mean().backward()
        judge(fake).mean().backward()


def straight_through() -> None:
    out = net()(X)
    rounded = out + (out.round() - out).detach()
    rounded.square().sum().backward()


def closures() -> None:
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(X).square().mean()
        loss.backward()
        return loss

    optimizer.step(closure)


def hard_examples() -> None:
    """Only some batches go backward, from one line."""
    model = net()
    for number in range(4):
        loss = model(X).square().mean()
        if number % 2:
            loss.backward()


def hessian() -> torch.Tensor:
    return torch.autograd.functional.hessian(lambda x: net()(x).sum(), X)


def jacobian() -> torch.Tensor:
    model = net()
    weights = {name: each.detach() for name, each in model.named_parameters()}
    return torch.func.jacrev(lambda x: torch.func.functional_call(model, weights, (x,)), chunk_size=2)(X)


def kept_for_later() -> list[torch.Tensor]:
    model = net()
    return [model(X).square().mean() for _ in range(3)]


def kept_behind_a_function() -> torch.Tensor:
    return Doubled.apply(net()(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "code",
    [
        *(trained, gradient_penalty, double_backward, activation_maximisation, inner_loop, accumulated),
        *(truncated_time, log_probabilities, checkpointed(True), checkpointed(False), own_function),
        *(sum_of_parameters, adversaries, straight_through, closures, hard_examples, hessian, jacobian),
        *(kept_for_later, kept_behind_a_function),
    ],
    ids=lambda code: code.__qualname__.partition(".")[0],
)
def test_a_graph_that_is_used_or_kept_is_left_alone(code: Callable[[], Any]) -> None:
    found = dropped(code)
    assert (found.count, found.rows.tolist()) == (0, [])


def test_a_graph_that_goes_back_in_a_later_iteration_is_left_alone() -> None:
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def code(look: CloseLook) -> None:
        losses = []
        for _ in range(2):
            for _ in range(2):
                losses.append(model(X).mean())
                look.iteration_ended()
        # the look has ended: nobody sees this
        sum(losses).backward()
        optimizer.step()

    assert Results(looked_at(code, iterations=4)).get(DroppedGraphs).count == 0


def test_what_is_freed_after_the_look_is_kept() -> None:
    out = []

    def code(look: CloseLook) -> None:
        out.append(net()(X).square().sum())
        look.iteration_ended()
        out.clear()

    trace = looked_at(code, iterations=1)
    fates = trace.looked_operators["node"].tolist()
    assert NodeFate.KEPT in fates and NodeFate.FREED not in fates


def test_the_look_leaves_graphs_as_they_were() -> None:
    model = net().eval()
    before = torch.autograd.grad(model(X).sum(), list(model.parameters()))
    kept: list[torch.Tensor] = []

    def code(look: CloseLook) -> None:
        kept.append(model(X).sum())

    looked_at(code)
    for one, other in zip(torch.autograd.grad(kept[0], list(model.parameters())), before, strict=True):
        assert torch.equal(one, other)
    kept.clear()
    gc.collect()


PASSES = st.lists(st.sampled_from(["back", "later", "quiet"]), max_size=6)


@settings(max_examples=25, deadline=None)
@given(PASSES, st.lists(st.sampled_from(["drop", "quiet", "keep"]), max_size=6))
def test_dropped_are_those_that_nothing_goes_back_through(used: list[str], other: list[str]) -> None:
    model, waits, kept = net(), [], []

    def code() -> None:
        for how in used:
            with torch.set_grad_enabled(how != "quiet"):
                loss = model(X).square().mean()
            if how == "back":
                loss.backward()
            elif how == "later":
                waits.append(loss)
            del loss
        for how in other:
            with torch.set_grad_enabled(how != "quiet"):
                value = model(X).square().mean()
            if how == "keep":
                kept.append(value)
            del value
        if waits:
            torch.stack(waits).sum().backward()

    assert dropped(code).count == other.count("drop")


def test_an_operator_of_a_backward_pass_knows_the_operator_whose_node_runs() -> None:
    layer = nn.Linear(4, 4)
    trace = looked_at(lambda _: layer(X).tanh().sum().backward())
    operators = trace.looked_operators
    named = trace.names_of(operators).tolist()
    forward = dict(zip(named, operators["forward_operator"].tolist(), strict=True))
    assert named[forward["aten::tanh_backward"]] == "aten::tanh"
    assert named[forward["aten::mm"]] == "aten::addmm"
    assert forward["aten::addmm"] == forward["aten::ones_like"] == -1


def test_operators_of_a_step_have_the_name_of_their_optimizer() -> None:
    layer = nn.Linear(4, 4)
    optimizer = torch.optim.RMSprop(layer.parameters())

    def code() -> None:
        layer(X).sum().backward()
        optimizer.step()
        layer(X)

    trace = looked_at(lambda _: code())
    operators = trace.looked_operators
    named = trace.names_of(operators).tolist()
    optimizers = {trace.names[each] for each in operators["optimizer"].tolist() if each >= 0}
    assert optimizers == {"RMSprop"}
    assert operators["optimizer"][named.index("aten::addcdiv_")] >= 0
    assert {operators["optimizer"][row] for row, name in enumerate(named) if name == "aten::addmm"} == {-1}


def test_a_backward_pass_in_compiled_code_leaves_all_unknown() -> None:
    nodes = GraphNodes()
    nodes.lose_track()
    y = X.clone().requires_grad_().mul(2)
    nodes.made(y.grad_fn._sequence_nr(), 0)
    nodes.follow(y)
    del y
    nodes.end()
    assert nodes.fates(1) == [NodeFate.UNKNOWN]


def test_nodes_of_views_are_not_asked_for() -> None:
    nodes, x = GraphNodes(), X.clone().requires_grad_()
    for number, each in enumerate((x.mul(2), x.mul(2).view(-1))):
        nodes.made(each.grad_fn._sequence_nr(), number)
        nodes.follow(each)
    del each
    nodes.end()
    assert nodes.fates(3) == [NodeFate.FREED, NodeFate.UNKNOWN, NodeFate.UNKNOWN]
