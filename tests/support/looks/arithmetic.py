"""Linear algebra, conversions and plain arithmetic, of which a part is not needed or could be cheaper."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from tests.support.looks.program import Iterations, program

WIDE = torch.rand(300, 4_000)
"""It is there before the look begins."""


@program
def products_in_a_costly_order(turns: Iterations) -> Any:
    a, b, x = torch.randn(400, 400), torch.randn(400, 400), torch.randn(400, 1)
    kept = [(a @ b) @ x for _ in range(2)]
    return kept, (a @ b).trace().item(), (x.T @ (a @ (b @ (a + b)))).sum().item()


@program
def products_of_low_rank(turns: Iterations) -> Any:
    u, v, x = torch.randn(300, 2, requires_grad=True), torch.randn(2, 300), torch.randn(60, 300)
    weight = torch.eye(300) + u @ v
    (x @ weight.T).square().sum().backward()
    return u


@program
def products_in_batches(turns: Iterations) -> Any:
    a, b, c = torch.randn(3, 120, 4), torch.randn(3, 4, 120), torch.randn(3, 120, 2)
    d = torch.matmul(torch.matmul(a, b), c)
    return torch.addmm(torch.zeros(120), a[0], b[0]), torch.baddbmm(d, a @ b, c, beta=0.5)


@program
def products_scaled_between(turns: Iterations) -> Any:
    a, b, c = torch.randn(4, 160), torch.randn(160, 4), torch.randn(4, 160)
    return ((b @ a) * 0.5 / 3).T @ c.T, (2.0 * (b @ c)).sum(0)


@program
def diagonal_of_a_product(turns: Iterations) -> Any:
    a, b = torch.randn(160, 80), torch.randn(80, 160)
    return torch.diagonal(a @ b).clone(), torch.trace(a @ b), (a @ b)[:2].clone()


@program
def mostly_zeros(turns: Iterations) -> Any:
    dense, band, blocks = torch.zeros(256, 256), torch.zeros(256, 256), torch.zeros(256, 256)
    dense[::8, 3] = 1.0
    band += torch.diag(torch.ones(255), 1) + torch.diag(torch.ones(256))
    for at in range(0, 256, 32):
        blocks[at : at + 32, at : at + 32] = 1.0
    x, kept = torch.randn(256, 64), []
    for _ in range(2):
        kept += [dense @ x, band @ x, blocks @ x, torch.eye(256) @ x, x.T @ torch.tril(torch.ones(256, 256))]
        turns.iteration_ended()
    return kept


@program
def diagonal_matrices(turns: Iterations) -> Any:
    scale, x = torch.rand(200), torch.randn(200, 60)
    return torch.diag(scale) @ x, x.T @ torch.diag_embed(scale), F.linear(x.T, torch.diag(scale))


@program
def one_hot_lookups(turns: Iterations) -> Any:
    table = torch.randn(500, 64, requires_grad=True)
    chosen = F.one_hot(torch.tensor([1, 3, 3, 7]).repeat(20), 500).float()
    (chosen @ table).sum().backward()
    return table


@program
def inverses(turns: Iterations) -> Any:
    x = torch.randn(300, 300)
    spd, y = x @ x.T + torch.eye(300), torch.randn(300, 2)
    kept = [torch.inverse(spd) @ y, torch.linalg.inv(spd) @ y[:, 0], torch.linalg.pinv(x[:, :3]) @ y]
    return kept, torch.logdet(spd), torch.linalg.det(spd).log(), torch.linalg.cholesky(spd).diagonal().sum()


@program
def decompositions(turns: Iterations) -> Any:
    x = torch.randn(300, 60)
    _, s, _ = torch.linalg.svd(x, full_matrices=False)
    values, vectors = torch.linalg.eigh(x.T @ x)
    q, r = torch.linalg.qr(x)
    return s.max().item(), values[-1].item(), vectors[:, -1:].clone(), r.clone(), torch.linalg.norm(x, 2).item(), q[:1]


@program
def largest_of_all(turns: Iterations) -> Any:
    x = torch.randn(40, 3000)
    ordered, places = x.sort(dim=1, descending=True)
    return ordered[:, :3].clone(), places[:, 0].tolist(), x.argsort()[:, -1].clone(), x.topk(2).values[:, 0].tolist()


@program
def median_by_sorting(turns: Iterations) -> Any:
    x = torch.randn(3001)
    return x.sort().values[1500].item(), x.unique(return_inverse=True)[0].numel(), torch.cumsum(x, 0)[-1].item()


@program
def distances(turns: Iterations) -> Any:
    x, centers, kept = torch.randn(300, 40), torch.randn(30, 40), []
    for _ in range(3):
        near = torch.cdist(x, centers).argmin(1)
        written = ((x[:, None] - centers[None]) ** 2).sum(-1).sqrt()
        kept.append(written.min(1).values.mean().item())
        centers = torch.stack([x[near == each].mean(0) for each in range(30)])
        turns.iteration_ended()
    return centers, kept


@program
def same_work_again(turns: Iterations) -> Any:
    net, x, mask = nn.Linear(64, 64), torch.randn(60, 64), torch.ones(60, 60).tril()
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
    x, w = torch.randn(60, 80), torch.randn(80, 80)
    once, again = (x @ w).exp(), (x @ w).exp()
    x.add_(1)
    changed = (x @ w).exp()
    return once + again + changed, x.mean() - x.mean(), (x * x).mean(0) + (x * x).mean(0)


@program
def round_trips(turns: Iterations) -> Any:
    x, kept = torch.randn(200, 200), []
    for _ in range(2):
        y = (x.double() @ x.double()).float()
        kept += [y.half().float(), y.to(torch.bfloat16).float().sum(), torch.from_numpy(y.numpy()).clone()]
        kept.append(torch.tensor(y.tolist()))
        turns.iteration_ended()
    return kept


@program
def in_float64(turns: Iterations) -> Any:
    x = torch.linspace(0, 1, 200, dtype=torch.float64)
    w = torch.randn(200, 200, dtype=torch.float64)
    return (w @ x).float(), torch.arange(5).double().mean().item(), x.sum() * torch.tensor(2.0)


@program
def subnormal_numbers(turns: Iterations) -> Any:
    x, y = torch.full((6400,), 1e-39), torch.ones(6400)
    for _ in range(3):
        y = y * x + x
        turns.iteration_ended()
    return y


@program
def cancels_out(turns: Iterations) -> Any:
    x, bias = torch.randn(60, 80), torch.randn(80)
    shifted = (x + 3.0) - 3.0
    same = (x + bias).softmax(-1), (x + x.mean(-1, keepdim=True)).softmax(-1)
    normed = F.layer_norm(5 * x + 2, (80,)), F.batch_norm(x + bias, None, None, training=True)
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
    x, w = torch.randn(120, 80), torch.randn(80, 100)
    scores = torch.relu(x @ w)
    first, column = scores[0].clone(), (x @ w)[:, 3].tolist()
    return first, column, (x @ w).view(3, 40, 100)[1].sum().item(), torch.cat([x @ w, x @ w], 1)[:, :100].clone()


@program
def pieces(turns: Iterations) -> Any:
    x = torch.randn(120, 60)
    parts = [part.mean(0) for part in x.split(4)]
    halves = [half.exp() for half in x.chunk(2, 1)]
    left, right = x.unbind(1)[0], torch.index_select(x, 0, torch.tensor([1, 5]))
    turned = x.flip(0)[:2] + x.roll(1, 0)[:2] + x.gather(1, torch.zeros(120, 1, dtype=torch.int64))[:2]
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
    x = torch.randn(800, 30)
    graph = torch.eye(800).roll(1, 0).to_sparse().coalesce()
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
    x, y = torch.randn(40, 1, 60), torch.randn(1, 50, 60)
    apart = (x - y).abs().sum(-1)
    near = torch.exp(-apart)
    wide = x.expand(40, 30, 60).contiguous().mean(1)
    return near.sum(1), wide, (x * y).mean((0, 1)), x.repeat(1, 2, 1)[:, 0].clone()


@program
def long_convolutions(turns: Iterations) -> Any:
    wave, room = torch.randn(1, 1, 20_000), torch.randn(1, 1, 4_000)
    stereo, kernels = torch.randn(2, 8, 4_000), torch.randn(16, 8, 500)
    for _ in range(2):
        kept = F.conv1d(wave, room), F.conv1d(stereo, kernels, padding=8), F.conv1d(stereo, kernels[:, :1], groups=8)
        turns.iteration_ended()
    return kept


@program
def solved_again_and_again(turns: Iterations) -> Any:
    matrix, sides, kept = torch.randn(120, 120) + 120 * torch.eye(120), torch.randn(5, 120), []
    for side in sides:
        kept.append(torch.linalg.solve(matrix, side))
        kept.append(torch.linalg.solve(matrix.T, side[:, None])[:, 0])
        turns.iteration_ended()
    return torch.stack(kept)


@program
def all_pairs(turns: Iterations) -> Any:
    x, y, kept = torch.randn(100, 48), torch.randn(80, 48), []
    for _ in range(2):
        kept.append((x[:, None, :] - y[None, :, :]).pow(2).sum(-1).sqrt())
        kept.append((x[:, None] - y[None]).abs().sum(-1))
        kept.append((x[:, None] - y[None]).norm(dim=-1))
        kept.append((x[:, None] * y[None]).sum(-1))
        kept.append((torch.randn(200, 300) * x[:1, :1] * torch.randn(300)).sum(1))
        turns.iteration_ended()
    return kept


@program
def columns_picked(turns: Iterations) -> Any:
    wide, picked, kept = WIDE, torch.randint(0, 4_000, (64,)), []
    for _ in range(3):
        kept += [wide[:, picked], wide.index_select(1, picked), wide.T[picked], wide[picked[:9] % 300]]
        turns.iteration_ended()
    return kept


@program
def inverse_of_each_turn(turns: Iterations) -> Any:
    for turn in range(3):
        matrix = torch.randn(150, 150) + (150 + turn) * torch.eye(150)
        inverse = torch.linalg.inv(matrix)
        made = inverse @ torch.randn(150, 3), torch.randn(3, 150) @ torch.inverse(matrix.T)
        turns.iteration_ended()
    return made


@program
def single_numbers(turns: Iterations) -> Any:
    one, other, equal = torch.arange(60), torch.arange(60) % 7, 0
    for i in range(60):
        if one[i] == other[i]:
            equal += 1
    table = torch.zeros(2, 60)
    for i in range(60):
        table[0, i] = i * 0.5
        table[1, i] += table[0, i] * 2
    return equal, table


@program
def weights_of_zero_and_one(turns: Iterations) -> Any:
    a, b, kept = torch.ones(40, 50).exp(), torch.ones(40, 50).sin(), []
    for weight in (1.0, 0.0, 1):
        kept.append(a + weight * (b - a))
        kept.append(torch.lerp(a, b, float(weight)) - b * 2.0 + b + b)
        kept.append(torch.add(a.cos(), b.tanh(), alpha=weight))
        kept.append((1 - weight) * a.neg() + weight * b.sqrt())
        turns.iteration_ended()
    return kept


@program
def losses_times_zero(turns: Iterations) -> Any:
    one, other = nn.Linear(30, 20), nn.Linear(30, 20)
    x = torch.randn(16, 30)
    for weight in (0.0, 0.0):
        first, second = F.mse_loss(torch.tanh(one(x)), x[:, :20]), F.mse_loss(other(x), x[:, 10:])
        (second + weight * first).backward()
        turns.iteration_ended()
    return one, other


@program
def there_and_back(turns: Iterations) -> Any:
    x, kept = torch.randn(200, 200), []
    for _ in range(3):
        y = x.exp()
        z = y.to(torch.float64).to(torch.float32)
        kept.append(z + y.half().to(torch.float32).sin())
        kept.append(y.transpose(0, 1).contiguous().transpose(0, 1).contiguous().cos())
        turns.iteration_ended()
    return kept
