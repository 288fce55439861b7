NAME = "Forecasts road speeds for twelve steps with a graph-convolutional GRU that feeds its own predictions back."
FAULT = None
CURE = None
KIND = None
LOOKS = "Python loops over time steps with a hand-written cell, repeated adjacency products and a dense adjacency look slow; each step needs the previous state (and the decoder its own output), and the graph is small, so neither nn.GRU nor a sparse matrix would do better."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

N, T_IN, T_OUT = 80, 12, 12


def road_network():
    xy = rng.random((N, 2))
    d = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    w = np.exp(-(d / 0.18) ** 2)
    w[w < 0.02] = 0
    return (w / w.sum(1, keepdims=True)).astype(np.float32)


def simulate(adj, steps=1500):
    v = np.full(N, 0.0, dtype=np.float32)
    rows = []
    for s in range(steps):
        rush = -1.5 * np.exp(-((s % 288 - 96) / 18) ** 2) - 1.2 * np.exp(-((s % 288 - 210) / 24) ** 2)
        v = 0.75 * adj @ v + 0.25 * rush + 0.25 * rng.normal(size=N)
        rows.append(v.astype(np.float32))
    return np.stack(rows)


def mix(adj, x):
    return (adj @ x.flatten(1)).view_as(x)      # x: nodes, batch, channels


class GraphCell(nn.Module):
    def __init__(self, cin, hid):
        super().__init__()
        self.hid = hid
        self.gates = nn.Linear(2 * (cin + hid), 2 * hid)
        self.cand = nn.Linear(2 * (cin + hid), hid)

    def forward(self, adj, x, h):
        xh = torch.cat([x, h], dim=-1)
        r, z = torch.sigmoid(self.gates(torch.cat([xh, mix(adj, xh)], dim=-1))).chunk(2, dim=-1)
        xr = torch.cat([x, r * h], dim=-1)
        c = torch.tanh(self.cand(torch.cat([xr, mix(adj, xr)], dim=-1)))
        return z * h + (1 - z) * c


class SpeedForecaster(nn.Module):
    def __init__(self, adj, hid=32):
        super().__init__()
        self.register_buffer("adj", adj)
        self.enc = GraphCell(1, hid)
        self.dec = GraphCell(1, hid)
        self.out = nn.Linear(hid, 1)

    def forward(self, x):
        x = x.permute(1, 2, 0)
        h = x.new_zeros(N, x.size(2), self.enc.hid)
        for k in range(T_IN):
            h = self.enc(self.adj, x[k].unsqueeze(-1), h)
        y, ys = x[-1].unsqueeze(-1), []
        for _ in range(T_OUT):
            h = self.dec(self.adj, y, h)
            y = y + self.out(h)
            ys.append(y.squeeze(-1))
        return torch.stack(ys).permute(2, 0, 1)


adj = road_network()
speeds = torch.from_numpy(simulate(adj))
split = 1200
n_train = split - T_IN - T_OUT
span = torch.arange(T_IN + T_OUT)

model = SpeedForecaster(torch.from_numpy(adj))
opt = torch.optim.Adam(model.parameters(), lr=4e-3, fused=True)

for epoch in range(2):
    model.train()
    losses = []
    for idx in torch.randperm(n_train).split(32):
        seq = speeds[idx[:, None] + span]
        loss = (model(seq[:, :T_IN]) - seq[:, T_IN:]).abs().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        losses.append(loss.item())

    model.eval()
    with torch.no_grad():
        starts = torch.arange(split, len(speeds) - T_IN - T_OUT, 4)
        seq = speeds[starts[:, None] + span]
        err = (model(seq[:, :T_IN]) - seq[:, T_IN:]).abs().mean(dim=(0, 2))
    print(f"epoch {epoch}: train MAE {np.mean(losses):.4f}  test MAE 1/6/12 steps "
          f"{err[0]:.3f} {err[5]:.3f} {err[11]:.3f}")
'''
