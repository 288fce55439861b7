NAME = "Models monthly credit-card utilisation with a recurrent cell that feeds its own forecasts back and stress-tests a portfolio."
FAULT = None
CURE = None
KIND = None
LOOKS = "A Python loop over the months with nn.GRUCell, lists and torch.stack looks as though nn.GRU should do it in one call; but each month's input holds the utilisation just predicted (or sampled), so the steps depend on one another. Drawing noise inside the loop and stacking lists cost next to nothing beside the cell's products."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(33)
rng = np.random.default_rng(33)

N_ACC, MONTHS, HID = 2048, 24, 192


def make_portfolio():
    static = pd.DataFrame({
        "limit": rng.lognormal(8.5, 0.6, N_ACC),
        "age": rng.integers(20, 75, N_ACC),
        "tenure": rng.exponential(5, N_ACC),
        "income": rng.lognormal(10.3, 0.5, N_ACC),
    })
    static["limit_to_income"] = static["limit"] / static["income"]
    static = (static - static.mean()) / static.std()
    unemp = 0.05 + 0.01 * np.cumsum(rng.normal(0, 0.3, MONTHS))
    rate = 0.03 + 0.005 * np.cumsum(rng.normal(0, 0.3, MONTHS))
    macro = np.stack([unemp * 20, rate * 20], 1).astype(np.float32)
    util = np.empty((N_ACC, MONTHS + 1), dtype=np.float32)
    util[:, 0] = rng.beta(2, 4, N_ACC)
    for m in range(MONTHS):
        drift = 0.04 * static["limit_to_income"] + 0.5 * (macro[m, 0] - 1) * 0.1
        util[:, m + 1] = np.clip(0.9 * util[:, m] + 0.035 + 0.1 * drift + rng.normal(0, 0.06, N_ACC), 0, 1)
    return torch.tensor(static.to_numpy(), dtype=torch.float32), torch.from_numpy(macro), torch.from_numpy(util)


class BalanceModel(nn.Module):
    def __init__(self, n_static, n_macro):
        super().__init__()
        self.start = nn.Sequential(nn.Linear(n_static + 1, HID), nn.Tanh())
        self.cell = nn.GRUCell(1 + n_macro, HID)
        self.out = nn.Linear(HID, 2)

    def step(self, u, macro, h):
        h = self.cell(torch.cat([u, macro.expand(len(u), -1)], 1), h)
        delta, log_s = self.out(h).split(1, dim=1)
        return u + 0.1 * delta, log_s.clamp(-6, 1).exp(), h

    def forward(self, static, u0, macro, sample=False):
        u, h = u0, self.start(torch.cat([static, u0], 1))
        means, scales = [], []
        for m in range(len(macro)):
            mu, s, h = self.step(u, macro[m], h)
            means.append(mu)
            scales.append(s)
            u = mu + s * torch.randn_like(s) if sample else mu
            u = u.clamp(0, 1)
        return torch.cat(means, 1), torch.cat(scales, 1), u


static, macro, util = make_portfolio()
train_idx, test_idx = torch.arange(1536), torch.arange(1536, N_ACC)
model = BalanceModel(static.shape[1], macro.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(6):
    perm = train_idx[torch.randperm(len(train_idx))]
    total = 0.0
    for idx in perm.split(256):
        u = util[idx]
        mean, scale, _ = model(static[idx], u[:, :1], macro)
        loss = F.gaussian_nll_loss(mean, u[:, 1:], scale ** 2)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} nll {total / len(train_idx):.4f}")

model.eval()
rows = []
with torch.no_grad():
    mean, _, _ = model(static[test_idx], util[test_idx, :1], macro)
    print("test MAE", round((mean - util[test_idx, 1:]).abs().mean().item(), 4))
    for name, shock in (("base", 0.0), ("adverse", 0.4), ("severe", 0.9)):
        path = macro.clone()
        path[:, 0] += shock
        finals = []
        for draw in range(6):
            _, _, last = model(static[test_idx], util[test_idx, :1], path, sample=True)
            finals.append(last.mean().item())
        rows.append({"scenario": name, "mean_util": np.mean(finals), "sd": np.std(finals)})
print(pd.DataFrame(rows).round(4).to_string(index=False))
'''
