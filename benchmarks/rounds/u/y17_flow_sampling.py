NAME = 'Fits a masked autoregressive flow to a 24-dimensional spiral cloud and draws samples from it.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'Sampling runs the whole network once for each dimension in a Python loop, but an autoregressive flow can only be inverted one coordinate at a time, because each pass needs the coordinates made before it; the masks multiply the weights in each forward pass because the weights change with each step and the product is tiny beside the matrix product.'

GOOD = r'''
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(40)

DIM, HIDDEN, BATCH, STEPS = 24, 256, 512, 420


def spiral_cloud(n):
    """Points on a noisy curve in DIM dimensions, with a random radius and two branches."""
    t = torch.rand(n, 1) * 3 + 0.5
    branch = torch.randint(0, 2, (n, 1)).float() * math.pi
    freq = torch.arange(1, DIM // 2 + 1) * 0.6
    angle = freq * t + branch
    waves = torch.cat([torch.cos(angle), torch.sin(angle)], dim=1) * (0.4 + 0.3 * t)
    return waves + 0.08 * torch.randn(n, DIM)


class MaskedLinear(nn.Linear):
    def __init__(self, fan_in, fan_out, mask):
        super().__init__(fan_in, fan_out)
        self.register_buffer("mask", mask)

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Made(nn.Module):
    def __init__(self, order):
        super().__init__()
        deg_in = order
        deg_hid = torch.arange(HIDDEN) % (DIM - 1)
        self.first = MaskedLinear(DIM, HIDDEN, (deg_hid[:, None] >= deg_in[None]).float())
        self.second = MaskedLinear(HIDDEN, HIDDEN, (deg_hid[:, None] >= deg_hid[None]).float())
        final = (deg_in[:, None] > deg_hid[None]).float()
        self.last = MaskedLinear(HIDDEN, 2 * DIM, torch.cat([final, final]))

    def forward(self, x):
        h = F.relu(self.first(x))
        h = F.relu(self.second(h))
        shift, raw = self.last(h).chunk(2, dim=1)
        return shift, 2 * torch.tanh(raw / 2)


class Flow(nn.Module):
    def __init__(self, layers):
        super().__init__()
        forward_order = torch.arange(DIM)
        self.orders = [forward_order if i % 2 == 0 else forward_order.flip(0) for i in range(layers)]
        self.mades = nn.ModuleList([Made(o) for o in self.orders])

    def log_prob(self, x):
        logdet = 0.0
        for made in self.mades:
            shift, scale = made(x)
            x = (x - shift) * torch.exp(-scale)
            logdet = logdet - scale.sum(1)
        return -0.5 * x.square().sum(1) - 0.5 * DIM * math.log(2 * math.pi) + logdet

    @torch.no_grad()
    def sample(self, n):
        x = torch.randn(n, DIM)
        for made, order in zip(reversed(self.mades), reversed(self.orders)):
            z, x = x, torch.zeros(n, DIM)
            for step in range(DIM):
                shift, scale = made(x)
                col = int((order == step).nonzero())
                x[:, col] = z[:, col] * torch.exp(scale[:, col]) + shift[:, col]
        return x


flow = Flow(4)
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
for step in range(1, STEPS + 1):
    loss = -flow.log_prob(spiral_cloud(BATCH)).mean()
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    opt.step()
    if step % 105 == 0:
        print(f"step {step}: nll {loss.item():.3f}")

drawn = flow.sample(4000)
real = spiral_cloud(4000)
gap = (torch.cov(drawn.T) - torch.cov(real.T)).norm() / torch.cov(real.T).norm()
print("covariance gap:", round(gap.item(), 3))
with torch.no_grad():
    print("nll of samples:", round(-flow.log_prob(drawn).mean().item(), 2))
'''
