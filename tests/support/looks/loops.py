"""Loops over parts of tensors: turns that are alike, that build on each other, or that look for one of many."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.looks.program import Iterations, program


@program
def each_class_by_itself(turns: Iterations) -> Any:
    x, labels = torch.randn(240, 8), torch.arange(240) % 24
    means, counts = [], []
    for each in range(24):
        rows = x[labels == each]
        means.append(rows.mean(0))
        counts.append(len(rows))
    spread = torch.stack([((x[labels == each] - means[each]) ** 2).sum() for each in range(24)])
    return torch.stack(means), spread, counts


@program
def each_pair_by_itself(turns: Iterations) -> Any:
    x = torch.randn(5, 12)
    near = torch.zeros(5, 5)
    for i in range(5):
        for j in range(5):
            near[i, j] = (x[i] * x[j]).sum() / (x[i].norm() * x[j].norm())
    return near


@program
def each_column_is_scaled(turns: Iterations) -> Any:
    x = torch.randn(40, 20)
    for column in range(20):
        x[:, column] = (x[:, column] - x[:, column].mean()) / (x[:, column].std() + 1e-6)
    return x


@program
def windows_that_overlap(turns: Iterations) -> Any:
    x = torch.randn(60)
    kept = []
    for begin in range(0, 50, 2):
        largest = x[begin : begin + 4].max()
        kept.append(largest)
    return torch.stack(kept)


@program
def filter_with_a_state(turns: Iterations) -> Any:
    x, state, kept = torch.randn(20, 4), torch.zeros(4), torch.zeros(20, 4)
    for turn in range(20):
        state = torch.tanh(state * 0.5 + x[turn])
        kept[turn] = state
    return kept


@program
def sums_so_far(turns: Iterations) -> Any:
    x, total, product = torch.randn(20, 4), torch.zeros(4), torch.ones(4)
    sums, products, tallest = [], [], x[0].clone()
    for row in x:
        total = total + row
        product = product * row.exp()
        tallest = torch.maximum(tallest, row)
        sums.append(total)
        products.append(product)
    return torch.stack(sums), torch.stack(products), tallest


@program
def powers_of_a_matrix(turns: Iterations) -> Any:
    step, state, kept = torch.rand(30, 30) / 30, torch.ones(30), []
    for _ in range(6):
        state = step @ state
        state = state / state.sum()
        kept.append(state.max().item())
        turns.iteration_ended()
    return state, kept


@program
def nearest_one_by_one(turns: Iterations) -> Any:
    x, y, found = torch.randn(24, 16), torch.randn(50, 16), []
    for row in x:
        apart = ((y - row) ** 2).sum(1)
        found.append(int(apart.argmin()))
    return found


@program
def best_threshold_is_searched(turns: Iterations) -> Any:
    scores, truth, best, at = torch.rand(200), torch.rand(200) > 0.4, 0.0, 0.0
    for number in range(20):
        found = scores > number / 20
        right = (found & truth).sum() / found.sum().clamp(min=1)
        if right.item() > best:
            best, at = right.item(), number / 20
    return best, at


@program
def heads_one_by_one(turns: Iterations) -> Any:
    heads = nn.ModuleList(nn.Linear(24, 6) for _ in range(18))
    x = torch.randn(10, 24)
    made = torch.cat([F.relu(head(x)) for head in heads], 1)
    made.square().mean().backward()
    return heads


@program
def experts_with_their_rows(turns: Iterations) -> Any:
    experts, gate = nn.ModuleList(nn.Linear(12, 12) for _ in range(3)), nn.Linear(12, 3)
    x = torch.randn(20, 12)
    chosen, out = gate(x).argmax(-1), torch.zeros(20, 12)
    for number, expert in enumerate(experts):
        mine = (chosen == number).nonzero().squeeze(-1)
        out[mine] = expert(x[mine])
    out.sum().backward()
    return experts, gate


@program
def prefix_is_read_again(turns: Iterations) -> Any:
    seen, x, kept = torch.zeros(0, 8), torch.randn(8, 8), []
    for row in range(8):
        seen = torch.cat([seen, x[row : row + 1]])
        kept.append(seen.mean(0) + seen.std(0, correction=0))
        turns.iteration_ended()
    return torch.stack(kept)


@program
def image_patches(turns: Iterations) -> Any:
    image, kept = torch.randn(3, 16, 16), []
    for row in range(0, 16, 8):
        for column in range(0, 16, 8):
            patch = image[:, row : row + 8, column : column + 8]
            kept.append(patch.flatten().softmax(0))
    return torch.stack(kept)


@program
def derivatives_by_differences(turns: Iterations) -> Any:
    x, slopes = torch.randn(6), torch.zeros(6)

    def height(at: torch.Tensor) -> torch.Tensor:
        return (at.sin() * at).sum()

    for each in range(6):
        step = torch.zeros(6)
        step[each] = 1e-3
        slopes[each] = (height(x + step) - height(x - step)) / 2e-3
    return slopes


@program
def jacobians_of_torch(turns: Iterations) -> Any:
    net, x = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4)), torch.randn(6)
    full = torch.autograd.functional.jacobian(net, x)
    second = torch.autograd.functional.hessian(lambda at: net(at).sum(), x)
    return full.sum(0), second.diagonal().sum().item()
