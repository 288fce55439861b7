"""Linear algebra, conversions and plain arithmetic, of which a part is not needed or could be cheaper."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.looks.program import Iterations, program


@program
def products_in_a_costly_order(turns: Iterations) -> Any:
    a, b, x = torch.randn(24, 24), torch.randn(24, 24), torch.randn(24, 1)
    kept = [(a @ b) @ x for _ in range(2)]
    return kept, (a @ b).trace().item(), (x.T @ (a @ (b @ (a + b)))).sum().item()


@program
def products_of_low_rank(turns: Iterations) -> Any:
    u, v, x = torch.randn(20, 2, requires_grad=True), torch.randn(2, 20), torch.randn(6, 20)
    weight = torch.eye(20) + u @ v
    (x @ weight.T).square().sum().backward()
    return u


@program
def products_in_batches(turns: Iterations) -> Any:
    a, b, c = torch.randn(3, 12, 4), torch.randn(3, 4, 12), torch.randn(3, 12, 2)
    d = torch.matmul(torch.matmul(a, b), c)
    return torch.addmm(torch.zeros(12), a[0], b[0]), torch.baddbmm(d, a @ b, c, beta=0.5)


@program
def products_scaled_between(turns: Iterations) -> Any:
    a, b, c = torch.randn(4, 16), torch.randn(16, 4), torch.randn(4, 16)
    return ((b @ a) * 0.5 / 3).T @ c.T, (2.0 * (b @ c)).sum(0)


@program
def diagonal_of_a_product(turns: Iterations) -> Any:
    a, b = torch.randn(16, 8), torch.randn(8, 16)
    return torch.diagonal(a @ b).clone(), torch.trace(a @ b), (a @ b)[:2].clone()


@program
def mostly_zeros(turns: Iterations) -> Any:
    dense, band, blocks = torch.zeros(32, 32), torch.zeros(32, 32), torch.zeros(32, 32)
    dense[::8, 3] = 1.0
    band += torch.diag(torch.ones(31), 1) + torch.diag(torch.ones(32))
    for at in range(0, 32, 8):
        blocks[at : at + 8, at : at + 8] = 1.0
    x, kept = torch.randn(32, 8), []
    for _ in range(2):
        kept += [dense @ x, band @ x, blocks @ x, torch.eye(32) @ x, x.T @ torch.tril(torch.ones(32, 32))]
        turns.iteration_ended()
    return kept


@program
def diagonal_matrices(turns: Iterations) -> Any:
    scale, x = torch.rand(12), torch.randn(12, 5)
    return torch.diag(scale) @ x, x.T @ torch.diag_embed(scale), F.linear(x.T, torch.diag(scale))


@program
def one_hot_lookups(turns: Iterations) -> Any:
    table = torch.randn(10, 4, requires_grad=True)
    chosen = F.one_hot(torch.tensor([1, 3, 3, 7]), 10).float()
    (chosen @ table).sum().backward()
    return table


@program
def inverses(turns: Iterations) -> Any:
    x = torch.randn(6, 6)
    spd, y = x @ x.T + torch.eye(6), torch.randn(6, 2)
    kept = [torch.inverse(spd) @ y, torch.linalg.inv(spd) @ y[:, 0], torch.linalg.pinv(x[:, :3]) @ y]
    return kept, torch.logdet(spd), torch.linalg.det(spd).log(), torch.linalg.cholesky(spd).diagonal().sum()


@program
def decompositions(turns: Iterations) -> Any:
    x = torch.randn(8, 5)
    _, s, _ = torch.linalg.svd(x, full_matrices=False)
    values, vectors = torch.linalg.eigh(x.T @ x)
    q, r = torch.linalg.qr(x)
    return s.max().item(), values[-1].item(), vectors[:, -1:].clone(), r.clone(), torch.linalg.norm(x, 2).item(), q[:1]


@program
def largest_of_all(turns: Iterations) -> Any:
    x = torch.randn(4, 30)
    ordered, places = x.sort(dim=1, descending=True)
    return ordered[:, :3].clone(), places[:, 0].tolist(), x.argsort()[:, -1].clone(), x.topk(2).values[:, 0].tolist()


@program
def median_by_sorting(turns: Iterations) -> Any:
    x = torch.randn(31)
    return x.sort().values[15].item(), x.unique(return_inverse=True)[0].numel(), torch.cumsum(x, 0)[-1].item()


@program
def distances(turns: Iterations) -> Any:
    x, centers, kept = torch.randn(10, 4), torch.randn(3, 4), []
    for _ in range(3):
        near = torch.cdist(x, centers).argmin(1)
        written = ((x[:, None] - centers[None]) ** 2).sum(-1).sqrt()
        kept.append(written.min(1).values.mean().item())
        centers = torch.stack([x[near == each].mean(0) for each in range(3)])
        turns.iteration_ended()
    return centers, kept


@program
def same_work_again(turns: Iterations) -> Any:
    net, x, mask = nn.Linear(12, 12), torch.randn(6, 12), torch.ones(6, 6).tril()
    kept = []
    with torch.no_grad():
        for _ in range(3):
            steady = torch.tanh(net(x)) @ net.weight
            angles = torch.outer(torch.arange(6.0), 1 / 100 ** (torch.arange(0, 6, 2) / 6)).cos()
            kept.append((mask @ steady).sum() + angles.sum() + torch.randn(6).sum())
            turns.iteration_ended()
    return kept


@program
def same_work_within(turns: Iterations) -> Any:
    x, w = torch.randn(6, 8), torch.randn(8, 8)
    once, again = (x @ w).exp(), (x @ w).exp()
    x.add_(1)
    changed = (x @ w).exp()
    return once + again + changed, x.mean() - x.mean(), (x * x).mean(0) + (x * x).mean(0)


@program
def round_trips(turns: Iterations) -> Any:
    x, kept = torch.randn(16, 16), []
    for _ in range(2):
        y = (x.double() @ x.double()).float()
        kept += [y.half().float(), y.to(torch.bfloat16).float().sum(), torch.from_numpy(y.numpy()).clone()]
        kept.append(torch.tensor(y.tolist()))
        turns.iteration_ended()
    return kept


@program
def in_float64(turns: Iterations) -> Any:
    x = torch.linspace(0, 1, 20, dtype=torch.float64)
    w = torch.randn(20, 20, dtype=torch.float64)
    return (w @ x).float(), torch.arange(5).double().mean().item(), x.sum() * torch.tensor(2.0)


@program
def subnormal_numbers(turns: Iterations) -> Any:
    x, y = torch.full((64,), 1e-39), torch.ones(64)
    for _ in range(3):
        y = y * x + x
        turns.iteration_ended()
    return y


@program
def cancels_out(turns: Iterations) -> Any:
    x, bias = torch.randn(6, 8), torch.randn(8)
    shifted = (x + 3.0) - 3.0
    same = (x + bias).softmax(-1), (x + x.mean(-1, keepdim=True)).softmax(-1)
    normed = F.layer_norm(5 * x + 2, (8,)), F.batch_norm(x + bias, None, None, training=True)
    return shifted, same, normed, (x * 2 / 2).argmax(-1), (-x).neg(), (x + bias - bias).sum(), x.sub(x, alpha=1)


@program
def bias_before_a_norm(turns: Iterations) -> Any:
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 5))
    for _ in range(2):
        net(torch.randn(7, 6)).log_softmax(-1)[:, 0].sum().backward()
        turns.iteration_ended()
    return net


@program
def hardly_read(turns: Iterations) -> Any:
    x, w = torch.randn(12, 8), torch.randn(8, 10)
    scores = torch.relu(x @ w)
    first, column = scores[0].clone(), (x @ w)[:, 3].tolist()
    return first, column, (x @ w).view(3, 4, 10)[1].sum().item(), torch.cat([x @ w, x @ w], 1)[:, :10].clone()


@program
def pieces(turns: Iterations) -> Any:
    x = torch.randn(12, 6)
    parts = [part.mean(0) for part in x.split(4)]
    halves = [half.exp() for half in x.chunk(2, 1)]
    left, right = x.unbind(1)[0], torch.index_select(x, 0, torch.tensor([1, 5]))
    turned = x.flip(0)[:2] + x.roll(1, 0)[:2] + x.gather(1, torch.zeros(12, 1, dtype=torch.int64))[:2]
    return torch.stack(parts), halves[0].clone(), left.sum(), right, turned, F.pad(x, (1, 1))[:, 0].clone()


@program
def filled_and_scattered(turns: Iterations) -> Any:
    out, x = torch.zeros(8, 4), torch.randn(3, 4)
    places = torch.tensor([0, 2, 2])
    out.index_add_(0, places, x)
    out[places] = x * 2
    out.scatter_(0, places[:, None].expand(3, 4), x)
    full = torch.empty(4, 4)
    full[:2], full[2:] = x[:2], x[1:]
    full.masked_fill_(full > 0, 0.0)
    return out[:3].clone(), full, torch.zeros(4).index_put((places,), torch.ones(3), accumulate=True)


@program
def sparse_matrices(turns: Iterations) -> Any:
    x = torch.randn(8, 3)
    graph = torch.eye(8).roll(1, 0).to_sparse().coalesce()
    twice = torch.sparse.mm(graph, graph)
    return torch.sparse.mm(twice, x), torch.sparse.mm(graph, torch.sparse.mm(graph, x))


@program
def read_outside(turns: Iterations) -> Any:
    x, seen = torch.randn(5, 4), []
    for row in range(3):
        y = (x + row).exp()
        seen.append(float(y[row, 0]))
        if bool((y > 0).all()):
            seen.append(y.max().item())
        turns.iteration_ended()
    return seen, x.numpy().sum()


@program
def broadcasts(turns: Iterations) -> Any:
    x, y = torch.randn(4, 1, 6), torch.randn(1, 5, 6)
    apart = (x - y).abs().sum(-1)
    near = torch.exp(-apart)
    wide = x.expand(4, 3, 6).contiguous().mean(1)
    return near.sum(1), wide, (x * y).mean((0, 1)), x.repeat(1, 2, 1)[:, 0].clone()
