"""Small training loops, each with something that a close look can tell."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.looks.program import Iterations, program


def _net(*, wide: int = 16, normed: bool = False) -> nn.Sequential:
    norm: list[nn.Module] = [nn.BatchNorm1d(wide)] if normed else []
    return nn.Sequential(nn.Linear(8, wide), *norm, nn.ReLU(), nn.Linear(wide, 4))


def _batch(rows: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(rows, 8), torch.arange(rows) % 4


@program
def plain_training(turns: Iterations) -> Any:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        x, y = _batch()
        optimizer.zero_grad()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        turns.iteration_ended()
    return net, optimizer


@program
def gradients_pile_up(turns: Iterations) -> Any:
    net = _net(normed=True)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        x, y = _batch()
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        turns.iteration_ended()
    return net, optimizer


@program
def losses_are_summed(turns: Iterations) -> Any:
    net = _net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        loss: Any = 0.0
        for _ in range(4):
            x, y = _batch()
            loss = loss + F.cross_entropy(net(x), y) / 4
        loss.backward()
        optimizer.step()
        turns.iteration_ended()
    return net, optimizer


@program
def losses_are_stacked(turns: Iterations) -> Any:
    net = _net(normed=True)
    losses = []
    for _ in range(3):
        x, y = _batch()
        losses.append(F.mse_loss(net(x), F.one_hot(y, 4).float()))
    torch.stack(losses).mean().backward()
    kept = [float(each) for each in losses]
    return net, kept, losses


@program
def losses_are_summed_in_place(turns: Iterations) -> Any:
    net = _net()
    total = torch.zeros(())
    for _ in range(3):
        x, y = _batch()
        total += F.cross_entropy(net(x), y, reduction="sum")
    (total / 18).backward()
    return net, total


@program
def gradients_nobody_reads(turns: Iterations) -> Any:
    net, head = _net(), nn.Linear(4, 4)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(2):
        x, y = _batch()
        optimizer.zero_grad()
        F.cross_entropy(head(net(x)), y).backward()
        optimizer.step()
        turns.iteration_ended()
    return net, head, optimizer


@program
def gradients_row_by_row(turns: Iterations) -> Any:
    net = _net()
    x = torch.randn(12, 8)
    norms = []
    for row in range(12):
        net.zero_grad()
        net(x[row : row + 1]).sum().backward()
        norms.append(net[0].weight.grad.norm())
    return net, torch.stack(norms).tolist()


@program
def jacobian_by_hand(turns: Iterations) -> Any:
    net = nn.Linear(60, 40)
    x = torch.randn(60, requires_grad=True)
    y = torch.tanh(net(x))
    rows = [torch.autograd.grad(y[row], x, retain_graph=True)[0] for row in range(40)]
    return torch.stack(rows).diagonal().sum().item()


@program
def hessian_trace(turns: Iterations) -> Any:
    x = torch.randn(20, requires_grad=True)
    y = (x**3).sum() * torch.sin(x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    total = 0.0
    for row in range(20):
        total += torch.autograd.grad(first[row], x, retain_graph=True)[0][row].item()
    return total


@program
def graph_is_dropped(turns: Iterations) -> Any:
    net = _net()
    correct = 0
    for _ in range(3):
        x, y = _batch()
        correct += (net(x).argmax(1) == y).sum().item()
        turns.iteration_ended()
    return net, correct


@program
def some_graphs_are_kept(turns: Iterations) -> Any:
    net, losses = _net(), []
    for number in range(4):
        x, y = _batch()
        loss = F.cross_entropy(net(x), y)
        if number % 2:
            loss.backward()
        losses.append(loss)
        turns.iteration_ended()
    return net, losses


@program
def embeddings_with_padding(turns: Iterations) -> Any:
    table = nn.Embedding(4000, 32, padding_idx=0)
    head = nn.Linear(32, 4000)
    optimizer = torch.optim.Adagrad(table.parameters(), lr=0.1)
    for _ in range(2):
        words = torch.randint(1, 4000, (8, 40))
        words[:, 24:] = 0
        optimizer.zero_grad()
        said = head(table(words))
        loss = F.cross_entropy(said[:, :-1].reshape(-1, 4000), words[:, 1:].reshape(-1), ignore_index=0)
        loss.backward()
        optimizer.step()
        turns.iteration_ended()
    return table, head, optimizer


@program
def embedding_bag_and_cosine(turns: Iterations) -> Any:
    bag, other = nn.EmbeddingBag(30, 6, mode="mean"), nn.Embedding(30, 6, sparse=True)
    words, starts = torch.randint(0, 30, (12,)), torch.tensor([0, 4, 8])
    near = F.cosine_similarity(bag(words, starts), other(words[:3]))
    F.margin_ranking_loss(near, near.flip(0), torch.ones(3)).backward()
    return bag, other


@program
def clipped_and_averaged(turns: Iterations) -> Any:
    net, average = _net(), _net()
    optimizer = torch.optim.AdamW(net.parameters(), foreach=False)
    for _ in range(2):
        x, y = _batch()
        optimizer.zero_grad(set_to_none=False)
        F.cross_entropy(net(x), y, label_smoothing=0.1).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for mine, own in zip(average.parameters(), net.parameters(), strict=True):
                mine.mul_(0.9).add_(own, alpha=0.1)
        turns.iteration_ended()
    return net, average, optimizer


@program
def adversary(turns: Iterations) -> Any:
    net = _net()
    x, y = _batch()
    x.requires_grad_(True)
    for _ in range(3):
        F.cross_entropy(net(x), y).backward()
        with torch.no_grad():
            x += 0.1 * x.grad.sign()
            x.clamp_(-1, 1)
        x.grad = None
        turns.iteration_ended()
    return net, x


@program
def two_sided(turns: Iterations) -> Any:
    maker, judge = nn.Linear(4, 8), nn.Linear(8, 1)
    ours, theirs = torch.optim.SGD(maker.parameters(), lr=0.1), torch.optim.SGD(judge.parameters(), lr=0.1)
    for _ in range(2):
        made, real = maker(torch.randn(6, 4)), torch.randn(6, 8)
        theirs.zero_grad()
        loss = F.softplus(-judge(real)).mean() + F.softplus(judge(made)).mean()
        loss.backward(retain_graph=True)
        theirs.step()
        ours.zero_grad()
        (-judge(made).mean()).backward()
        ours.step()
        turns.iteration_ended()
    return maker, judge, ours, theirs


@program
def parts_go_back(turns: Iterations) -> Any:
    net, scale = nn.Linear(12, 10), torch.ones(10, requires_grad=True)
    x = torch.randn(9, 12)
    for row in range(3):
        made = torch.tanh(net(x)) * scale
        (-made[row] / 2).square().sum().backward(retain_graph=True)
        (made[row + 1 : row + 3, ::4] - made[:2, 1:4]).abs().mean().backward()
        turns.iteration_ended()
    return net.weight.grad.clone(), scale.grad.clone()


@program
def parts_of_batches_go_back(turns: Iterations) -> Any:
    w = torch.randn(4, 6, 5, requires_grad=True)
    x = torch.randn(4, 8, 6)
    kept = []
    for at in range(2):
        made = torch.bmm(x, w).relu().clone()
        loss = (
            made[at].sum() + made[:, at, :3].exp().sum((0, 1)) + (made[:, :, -1].transpose(0, 1) @ torch.ones(4)).mean()
        )
        kept.append(torch.autograd.grad(loss, w)[0].sum(0))
        turns.iteration_ended()
    return kept


@program
def ignored_targets(turns: Iterations) -> Any:
    body, head = nn.Sequential(nn.Linear(20, 30), nn.LayerNorm(30), nn.GELU()), nn.Linear(30, 40)
    x, targets = torch.randn(4, 50, 20), torch.randint(0, 40, (4, 50))
    targets[:, 20:] = -100
    weights = (targets >= 0).float()
    for _ in range(2):
        said = head(body(x))
        plain = F.cross_entropy(said.transpose(1, 2), targets)
        each = F.cross_entropy(said.reshape(-1, 40), targets.clamp(min=0).reshape(-1), reduction="none")
        (plain + (each * weights.reshape(-1)).sum() / weights.sum()).backward()
        turns.iteration_ended()
    return body, head


@program
def masked_rows_of_losses(turns: Iterations) -> Any:
    net, keep = nn.Linear(16, 16), torch.arange(64) % 4 == 0
    x, y = torch.randn(64, 16), torch.rand(64, 16)
    for _ in range(2):
        said = torch.sigmoid(net(x))
        first = F.binary_cross_entropy(said, y, weight=keep[:, None].float())
        second = ((said - y) ** 2)[keep].mean() + torch.where(keep[:, None], said, 0.0).sum()
        (first + second + said.masked_fill(~keep[:, None], 0.0).mean()).backward()
        turns.iteration_ended()
    return net


@program
def hard_examples(turns: Iterations) -> Any:
    """The mask follows from the result itself."""
    net, x = nn.Linear(16, 4), torch.randn(64, 16)
    for _ in range(2):
        each = F.cross_entropy(net(x), torch.zeros(64, dtype=torch.int64), reduction="none")
        (each * (each > each.mean()).float()).sum().backward()
        each[each.topk(8).indices].sum()
        turns.iteration_ended()
    return net


@program
def finished_sequences(turns: Iterations) -> Any:
    table, head = nn.Embedding(30, 16), nn.Linear(16, 30)
    words, done = torch.zeros(6, 1, dtype=torch.int64), torch.zeros(6, dtype=torch.bool)
    with torch.no_grad():
        for turn in range(5):
            best = head(table(words[:, -1])).argmax(-1)
            best = torch.where(done, 0, best)
            done |= (best % 2 == 0) | (turn > 2)
            words = torch.cat([words, best[:, None]], 1)
            if bool(done.all()):
                done = done.clone()
            turns.iteration_ended()
    return words.tolist()
