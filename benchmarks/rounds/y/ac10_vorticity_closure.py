NAME = "Trains a CNN closure inside a pseudo-spectral vorticity solver by backpropagating through several time steps."
FAULT = None
CURE = None
KIND = None
LOOKS = "The state is never detached inside the Python time loop and all steps' losses are summed before one backward, which looks like a graph held by mistake, but the training needs gradients through the unrolled solver."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(31)

N, DT, NU, UNROLL = 48, 0.02, 2e-3, 5


class Solver:
    """2D vorticity equation on a periodic box, semi-implicit in time."""

    def __init__(self, n, nu, dt):
        k = torch.fft.fftfreq(n, 1 / n)
        self.kx = k[:, None].expand(n, n // 2 + 1)
        self.ky = torch.fft.rfftfreq(n, 1 / n)[None].expand(n, n // 2 + 1)
        k2 = self.kx ** 2 + self.ky ** 2
        inv = torch.where(k2 > 0, 1 / k2.clamp(min=1), torch.zeros_like(k2))
        keep = (self.kx.abs() < n / 3) & (self.ky < n / 3)
        self.ops = torch.stack([1j * self.ky * inv, -1j * self.kx * inv, 1j * self.kx, 1j * self.ky])
        self.damp = keep / (1 + dt * nu * k2)
        self.n, self.dt = n, dt

    def step(self, wh, closure=None, w=None):
        u, v, wx, wy = torch.fft.irfft2(self.ops * wh.unsqueeze(-3), s=(self.n, self.n)).unbind(-3)
        rhs = -(u * wx + v * wy)
        if closure is not None:
            if w is None:
                w = torch.fft.irfft2(wh, s=(self.n, self.n))
            rhs = rhs + closure(w, u, v)
        return (wh + self.dt * torch.fft.rfft2(rhs)) * self.damp


class Closure(nn.Module):
    def __init__(self, ch=20):
        super().__init__()
        conv = lambda i, o: nn.Conv2d(i, o, 3, padding=1, padding_mode="circular")
        self.net = nn.Sequential(conv(3, ch), nn.GELU(), conv(ch, ch), nn.GELU(), conv(ch, 1))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, w, u, v):
        return self.net(torch.stack([w, u, v], dim=1)).squeeze(1)


def random_vorticity(batch, n):
    xs = torch.arange(n) * 2 * math.pi / n
    w = torch.zeros(batch, n, n)
    for _ in range(8):
        kx, ky = torch.randint(-4, 5, (2, batch, 1, 1))
        phase = 2 * math.pi * torch.rand(batch, 1, 1)
        w += torch.cos(kx * xs[:, None] + ky * xs[None] + phase)
    return w - w.mean(dim=(1, 2), keepdim=True)


# reference trajectories carry a drag and a forcing that the coarse solver lacks
solver = Solver(N, NU, DT)
forcing = torch.sin(4 * torch.arange(N) * 2 * math.pi / N)[:, None].expand(N, N)
with torch.no_grad():
    state = torch.fft.rfft2(random_vorticity(24, N))
    frames = []
    for _ in range(61):
        frames.append(torch.fft.irfft2(state, s=(N, N)))
        state = solver.step(state, lambda w, u, v: 0.8 * forcing - 0.3 * w, frames[-1])
    truth = torch.stack(frames, dim=1)
train, test = truth[:20], truth[20:]
print("reference", tuple(truth.shape), f"rms {truth.pow(2).mean().sqrt():.3f}")

closure = Closure().to(memory_format=torch.channels_last)
opt = torch.optim.Adam(closure.parameters(), lr=3e-3)

for it in range(75):
    rows = torch.randint(0, len(train), (6,))
    t0 = int(torch.randint(0, truth.shape[1] - UNROLL, (1,)))
    w = train[rows, t0]
    wh = torch.fft.rfft2(w)
    loss = 0.0
    for s in range(1, UNROLL + 1):
        wh = solver.step(wh, closure, w)
        w = torch.fft.irfft2(wh, s=(N, N))
        loss = loss + (w - train[rows, t0 + s]).pow(2).mean() / UNROLL
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(closure.parameters(), 1.0)
    opt.step()
    if it % 25 == 24:
        print(f"iteration {it + 1}: rollout error {loss.item():.3e}")


@torch.no_grad()
def rollout_error(model, steps=20):
    wh = torch.fft.rfft2(test[:, 0])
    for _ in range(steps):
        wh = solver.step(wh, model)
    return (torch.fft.irfft2(wh, s=(N, N)) - test[:, steps]).pow(2).mean().sqrt().item()


print(f"20-step rms error: plain {rollout_error(None):.4f}, with closure {rollout_error(closure):.4f}")
'''
