"""Losses of real programs under the close look: which of them could go back one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.training.summed_losses import LossSum, SummedLosses
from gpuprof.capture.look.close_look import CloseLook
from tests.support.looked_runs import looked_at

TURNS = 5
Net = nn.Module


def network(*, normed: bool = False) -> nn.Sequential:
    torch.manual_seed(0)
    norm = nn.BatchNorm1d(32) if normed else nn.Identity()
    return nn.Sequential(nn.Linear(16, 32), norm, nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 4))


def parts() -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [(torch.randn(8, 16), torch.arange(8) % 4) for _ in range(TURNS)]


def found(program: Callable[[Net], Any], *, normed: bool = False) -> LossSum | None:
    net, trained = network(normed=normed), list[Any]()

    def code(_: CloseLook) -> Any:
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        opt.zero_grad()
        trained.append(program(net))
        opt.step()
        return net, opt

    return Results(looked_at(code)).get(SummedLosses).found


def running(net: Net) -> None:
    loss: Any = 0.0
    for x, y in parts():
        loss = loss + F.cross_entropy(net(x), y) / TURNS
    loss.backward()


def listed(net: Net) -> None:
    losses = [F.cross_entropy(net(x), y) for x, y in parts()]
    torch.stack(losses).mean().backward()


def summed(net: Net) -> None:
    losses = []
    for x, y in parts():
        losses.append(F.cross_entropy(net(x), y))
    (sum(losses) / len(losses)).backward()


def in_place(net: Net) -> None:
    loss = torch.zeros(())
    for x, y in parts():
        loss += F.cross_entropy(net(x), y) + 0.1 * net(x).square().mean()
    loss.backward()


def scaled(net: Net) -> None:
    scale, loss = torch.tensor(1024.0), torch.zeros(())
    for x, y in parts():
        loss = loss + F.cross_entropy(net(x), y)
    (loss * scale).backward()


def tasks(net: Net) -> None:
    """One inner step of meta-learning for each task."""
    loss: Any = 0.0
    weight = net[4].weight
    for x, y in parts():
        hidden = net[:4](x)
        inner = F.cross_entropy(hidden @ weight.T, y)
        (gradient,) = torch.autograd.grad(inner, weight, create_graph=True)
        loss = loss + F.cross_entropy(hidden @ (weight - 0.1 * gradient).T, y)
    loss.backward()


def detached_states(net: Net) -> None:
    state, loss = torch.zeros(8, 16), torch.zeros(())
    for x, y in parts():
        out = net(x + state)
        state = F.pad(out.detach(), (0, 12))
        loss = loss + F.cross_entropy(out, y)
    loss.backward()


@pytest.mark.parametrize("program", [running, listed, summed, in_place, scaled, tasks, detached_states])
def test_each_could_go_back_by_itself(program: Callable[[Net], Any]) -> None:
    answer = found(program)
    assert answer is not None and answer.losses == TURNS
    assert 0 < answer.largest_bytes * (TURNS - 1) <= answer.kept_bytes <= answer.largest_bytes * TURNS


def test_buffers_of_batch_norm_are_no_results() -> None:
    assert found(running, normed=True) is not None


def accumulated(net: Net) -> None:
    for x, y in parts():
        (F.cross_entropy(net(x), y) / TURNS).backward()


def through_time(net: Net) -> None:
    state, loss = torch.zeros(8, 16), torch.zeros(())
    for x, y in parts():
        out = net(x + state)
        state = F.pad(out, (0, 12))
        loss = loss + F.cross_entropy(out, y)
    loss.backward()


def shared_encoder(net: Net) -> None:
    code, loss = net[0](torch.randn(8, 16)), torch.zeros(())
    for _, y in parts():
        loss = loss + F.cross_entropy(net[1:](code + torch.randn(8, 32)), y)
    loss.backward()


def contrastive(net: Net) -> None:
    rows = torch.cat([net(x) for x, _ in parts()])
    F.cross_entropy(rows @ rows.T, torch.arange(len(rows))).backward()


def rows_then_losses(net: Net) -> None:
    outputs = [net(x) for x, _ in parts()]
    joined, loss = torch.stack(outputs), torch.zeros(())
    for out, (_, y) in zip(joined, parts(), strict=True):
        loss = loss + F.cross_entropy(out, y)
    loss.backward()


def heads_of_a_trunk(net: Net) -> None:
    trunk, loss = net[:4](torch.randn(8, 16)), torch.zeros(())
    for each in range(TURNS):
        loss = loss + F.cross_entropy(net[4](trunk * (each + 1)), torch.arange(8) % 4)
    loss.backward()


def adversarial(net: Net) -> None:
    x, y = parts()[0]
    real = F.cross_entropy(net(x), y)
    fake = F.cross_entropy(net(x + 1), y)
    (real + fake).backward()


def spread_of_losses(net: Net) -> None:
    losses = torch.stack([F.cross_entropy(net(x), y) for x, y in parts()])
    (losses.mean() + losses.var()).backward()


def weighted_by_all(net: Net) -> None:
    losses = torch.stack([F.cross_entropy(net(x), y) for x, y in parts()])
    (losses * losses.detach().softmax(0)).sum().backward()


def scaled_by_a_count(net: Net) -> None:
    loss, count = torch.zeros(()), torch.zeros(())
    for x, y in parts():
        loss = loss + F.cross_entropy(net(x), y, reduction="sum")
        count = count + (y > 0).sum()
    (loss / count).backward()


def gone_through_twice(net: Net) -> None:
    loss = torch.zeros(())
    for x, y in parts():
        loss = loss + F.cross_entropy(net(x), y)
    loss.backward(retain_graph=True)
    loss.backward()


@pytest.mark.parametrize(
    "program",
    [
        *(accumulated, through_time, shared_encoder, contrastive, rows_then_losses, heads_of_a_trunk, adversarial),
        *(spread_of_losses, weighted_by_all, scaled_by_a_count, gone_through_twice),
    ],
)
def test_what_needs_all_graphs_is_left_alone(program: Callable[[Net], Any]) -> None:
    assert found(program) is None
