NAME = 'Adding problem (long-range memory) learnt by an orthogonal RNN'
FAULT = 'The orthogonal parametrization of the recurrent matrix is evaluated anew at every time step, because the parametrized layer is called inside the time loop; the matrix exponential (and its backward) runs T times per batch although the weight is the same'
CURE = 'Read self.rec.weight once before the loop and use F.linear with it (or wrap the forward in parametrize.cached())'
KIND = 'time'
FAULT_LINES = ['h = self.act(drive[:, t] + self.rec(h))', 'self.rec = orthogonal(nn.Linear(hidden, hidden, bias=False))']
FAULT_CALLS = ['self.rec', 'orthogonal', 'torch.matrix_exp', 'linalg_matrix_exp']
FAULTY = r"""
import math, time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import orthogonal

torch.set_num_threads(1)
torch.manual_seed(7)

SEQ, HID, BATCH, STEPS = 60, 96, 128, 20


def adding_batch(n, length, gen):
    # two input channels: uniform values and a marker for the two summands
    vals = torch.rand(n, length, generator=gen)
    mark = torch.zeros(n, length)
    half = length // 2
    i = torch.randint(0, half, (n, 1), generator=gen)
    j = torch.randint(half, length, (n, 1), generator=gen)
    mark.scatter_(1, i, 1.0)
    mark.scatter_(1, j, 1.0)
    target = (vals * mark).sum(1)
    return torch.stack([vals, mark], dim=-1), target


class SoftModReLU(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.b = nn.Parameter(torch.full((size,), -0.01))

    def forward(self, z):
        return z * torch.sigmoid(4 * (z.abs() + self.b))


class OrthoRNN(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(n_in, hidden)
        self.rec = orthogonal(nn.Linear(hidden, hidden, bias=False))
        self.act = SoftModReLU(hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        B, T, _ = x.shape
        drive = self.inp(x)
        h = x.new_zeros(B, self.hidden)
        for t in range(T):
            h = self.act(drive[:, t] + self.rec(h))
        return self.head(h).squeeze(-1)


gen = torch.Generator().manual_seed(11)
model = OrthoRNN(2, HID)
rec_params = [p for n, p in model.named_parameters() if "rec" in n]
other = [p for n, p in model.named_parameters() if "rec" not in n]
opt = torch.optim.SGD([
    {"params": other, "lr": 2e-2},
    {"params": rec_params, "lr": 5e-3},
])

t0 = time.time()
losses = []
for step in range(STEPS):
    x, y = adding_batch(BATCH, SEQ, gen)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())
    if (step + 1) % 5 == 0:
        print(f"step {step + 1:3d}  mse {sum(losses[-5:]) / 5:.4f}")

model.eval()
with torch.no_grad():
    x, y = adding_batch(512, SEQ, gen)
    test_mse = F.mse_loss(model(x), y).item()
    W = model.rec.weight
    defect = (W @ W.T - torch.eye(HID)).abs().max().item()
print(f"test mse {test_mse:.4f} (guessing 1.0: {((y - 1) ** 2).mean().item():.4f})")
print(f"orthogonality ok: {defect < 1e-4}")
"""
CURED = r"""
import math, time
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import orthogonal

torch.set_num_threads(1)
torch.manual_seed(7)

SEQ, HID, BATCH, STEPS = 60, 96, 128, 20


def adding_batch(n, length, gen):
    # two input channels: uniform values and a marker for the two summands
    vals = torch.rand(n, length, generator=gen)
    mark = torch.zeros(n, length)
    half = length // 2
    i = torch.randint(0, half, (n, 1), generator=gen)
    j = torch.randint(half, length, (n, 1), generator=gen)
    mark.scatter_(1, i, 1.0)
    mark.scatter_(1, j, 1.0)
    target = (vals * mark).sum(1)
    return torch.stack([vals, mark], dim=-1), target


class SoftModReLU(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.b = nn.Parameter(torch.full((size,), -0.01))

    def forward(self, z):
        return z * torch.sigmoid(4 * (z.abs() + self.b))


class OrthoRNN(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.hidden = hidden
        self.inp = nn.Linear(n_in, hidden)
        self.rec = orthogonal(nn.Linear(hidden, hidden, bias=False))
        self.act = SoftModReLU(hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        B, T, _ = x.shape
        drive = self.inp(x)
        h = x.new_zeros(B, self.hidden)
        W = self.rec.weight
        for t in range(T):
            h = self.act(drive[:, t] + F.linear(h, W))
        return self.head(h).squeeze(-1)


gen = torch.Generator().manual_seed(11)
model = OrthoRNN(2, HID)
rec_params = [p for n, p in model.named_parameters() if "rec" in n]
other = [p for n, p in model.named_parameters() if "rec" not in n]
opt = torch.optim.SGD([
    {"params": other, "lr": 2e-2},
    {"params": rec_params, "lr": 5e-3},
])

t0 = time.time()
losses = []
for step in range(STEPS):
    x, y = adding_batch(BATCH, SEQ, gen)
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())
    if (step + 1) % 5 == 0:
        print(f"step {step + 1:3d}  mse {sum(losses[-5:]) / 5:.4f}")

model.eval()
with torch.no_grad():
    x, y = adding_batch(512, SEQ, gen)
    test_mse = F.mse_loss(model(x), y).item()
    W = model.rec.weight
    defect = (W @ W.T - torch.eye(HID)).abs().max().item()
print(f"test mse {test_mse:.4f} (guessing 1.0: {((y - 1) ** 2).mean().item():.4f})")
print(f"orthogonality ok: {defect < 1e-4}")
"""
