"""Attention, sequences, convolutions, and loops whose turns are alike or build on each other."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.looks.program import Iterations, program


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, causal: bool, dropped: float = 0.0) -> Any:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if causal:
        keep = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
        scores = scores.masked_fill(~keep, float("-inf"))
    weights = F.dropout(scores.softmax(-1), dropped, training=dropped > 0)
    return weights @ v


@program
def written_attention(turns: Iterations) -> Any:
    projections = nn.Linear(64, 192)
    for _ in range(2):
        q, k, v = (
            each.view(2, 128, 4, 16).transpose(1, 2) for each in projections(torch.randn(2, 128, 64)).chunk(3, dim=-1)
        )
        _attention(q, k, v, causal=True).sum().backward()
        turns.iteration_ended()
    return projections


@program
def attention_of_batches(turns: Iterations) -> Any:
    q, k, v = (torch.randn(6, 96, 16) for _ in range(3))
    scores = torch.bmm(q, k.transpose(1, 2)) * 0.5
    padding = torch.zeros(6, 1, 96)
    padding[:, :, 60:] = -1e9
    return torch.bmm(torch.softmax(scores + padding, -1), v)


@program
def attention_with_dropout(turns: Iterations) -> Any:
    q, k, v = (torch.randn(2, 3, 80, 8, requires_grad=True) for _ in range(3))
    _attention(q, k, v, causal=False, dropped=0.2).mean().backward()
    return q.grad, k.grad, v.grad


@program
def attention_by_einsum(turns: Iterations) -> Any:
    q, k, v = (torch.randn(2, 100, 3, 8) for _ in range(3))
    scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
    weights = scores.softmax(-1)
    kept = weights.mean().item()
    return torch.einsum("bhqk,bkhd->bqhd", weights, v), kept


@program
def last_position_alone_is_read(turns: Iterations) -> Any:
    layer = nn.TransformerEncoderLayer(32, 2, 64, batch_first=True, dropout=0.0)
    layer.train()
    head = nn.Linear(32, 12)
    x = torch.randn(2, 60, 32)
    return head(layer(x))[:, -1].argmax(-1).tolist()


@program
def decoding_again_and_again(turns: Iterations) -> Any:
    table, mixed, head = nn.Embedding(12, 8), nn.Linear(8, 8), nn.Linear(8, 12)
    words = torch.zeros(1, 3, dtype=torch.int64)
    with torch.no_grad():
        for _ in range(4):
            hidden = torch.tanh(mixed(table(words)))
            best = head(hidden)[:, -1].argmax(-1, keepdim=True)
            words = torch.cat([words, best], 1)
            turns.iteration_ended()
    return words.tolist()


@program
def recurrent_by_hand(turns: Iterations) -> Any:
    inside, across = nn.Linear(24, 32), nn.Linear(32, 32)
    x, hidden = torch.randn(5, 16, 24), torch.zeros(16, 32)
    kept = []
    for turn in range(5):
        hidden = torch.tanh(inside(x[turn]) + across(hidden))
        kept.append(hidden)
    torch.stack(kept).mean().backward()
    return inside, across


@program
def turns_of_their_own(turns: Iterations) -> Any:
    layers = [nn.Linear(6, 6) for _ in range(18)]
    x = torch.randn(3, 6)
    kept = {}
    for number, layer in enumerate(layers):
        kept[number] = torch.sigmoid(layer(x))
    return layers, torch.stack(list(kept.values()))


@program
def rows_one_by_one(turns: Iterations) -> Any:
    x, out = torch.randn(20, 8), torch.zeros(20)
    weight = torch.randn(8)
    for row in range(20):
        out[row] = (x[row] * weight).sum()
    return out


@program
def running_total(turns: Iterations) -> Any:
    x, total, kept = torch.randn(20, 4), torch.zeros(4), []
    for row in range(20):
        total = 0.9 * total + x[row]
        kept.append(total)
    return torch.stack(kept)


@program
def largest_so_far(turns: Iterations) -> Any:
    x = torch.randn(20, 4)
    best = x[0]
    for row in range(1, 20):
        best = torch.maximum(best, x[row] * 2)
    return best


@program
def masks_of_losses(turns: Iterations) -> Any:
    net = nn.Linear(60, 50)
    x, y = torch.randn(2, 80, 60), torch.randint(0, 50, (2, 80))
    kept = torch.zeros(2, 80)
    kept[:, :20] = 1.0
    for _ in range(2):
        each = F.cross_entropy(net(x).reshape(-1, 50), y.reshape(-1), reduction="none").view(2, 80)
        ((each * kept).sum() / kept.sum()).backward()
        turns.iteration_ended()
    return net


@program
def chosen_by_a_mask(turns: Iterations) -> Any:
    net, other = nn.Linear(60, 60), nn.Linear(60, 60)
    x = torch.randn(80, 60)
    chosen = torch.arange(80) < 2
    whole = torch.where(chosen[:, None], net(x), other(x))
    part = net(x)[chosen]
    return whole, part.sum().item(), other(x).masked_select(chosen[:, None]).mean()


@program
def convolutions(turns: Iterations) -> Any:
    net = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2))
    net.eval()
    images = torch.randn(2, 2, 32, 32)
    for _ in range(2):
        made = net(images)
        turns.iteration_ended()
    return F.adaptive_avg_pool2d(made, 1).flatten(1), F.interpolate(images, scale_factor=2)[:, :, :4]


@program
def convolutions_train(turns: Iterations) -> Any:
    net = nn.Sequential(nn.Conv1d(3, 6, 3, stride=2), nn.GroupNorm(2, 6), nn.GELU(), nn.Flatten(), nn.LazyLinear(2))
    for _ in range(2):
        net(torch.randn(4, 3, 12)).square().mean().backward()
        turns.iteration_ended()
    return net


@program
def library_recurrence(turns: Iterations) -> Any:
    net, head = nn.LSTM(4, 5, batch_first=True), nn.Linear(5, 2)
    said, _ = net(torch.randn(2, 6, 4))
    head(said[:, -1]).sum().backward()
    return net, head
