NAME = 'e21_spiking_keywords'

FAULT = None

CURE = None

KIND = None

FAULT_LINES = [
]

FAULT_CALLS = [
]

GOOD = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(113)
torch.set_num_threads(1)


class Spike(torch.autograd.Function):
    """Heaviside forward, fast-sigmoid surrogate backward."""

    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, grad):
        (v,) = ctx.saved_tensors
        return grad / (1 + 10 * v.abs()).pow(2)


class RecurrentSNN(nn.Module):
    def __init__(self, n_in=80, n_hid=512, n_out=8, tau=20.0, beta=0.95):
        super().__init__()
        self.w_in = nn.Linear(n_in, n_hid)
        self.w_rec = nn.Linear(n_hid, n_hid, bias=False)
        self.readout = nn.Linear(n_hid, n_out)
        nn.init.normal_(self.w_rec.weight, std=0.3 / n_hid ** 0.5)
        self.alpha, self.beta = float(torch.exp(torch.tensor(-1.0 / tau))), beta

    def forward(self, spikes_in):
        drive = self.w_in(spikes_in).unbind(1)        # all steps at once: no recurrence here
        v = torch.zeros_like(drive[0])
        s = torch.zeros_like(drive[0])
        out = []
        for d in drive:                               # depends on the spikes of the step before
            v = self.alpha * v * (1 - s) + d + self.w_rec(s)
            s = Spike.apply(v - 1.0)
            out.append(s)
        out = torch.stack(out, 1)
        return self.readout(out.mean(1)), out.mean()


def cochlea(n, steps=50, channels=80, n_words=8):
    """Poisson spikes along a word-specific track over the channels."""
    y = torch.randint(0, n_words, (n,))
    t = torch.linspace(0, 1, steps)
    start = 5 + 8.0 * y[:, None]
    centre = start + (70 - 2 * start) * t * torch.rand(n, 1).mul(0.2).add(0.9)
    ch = torch.arange(channels)
    rate = 0.02 + 0.6 * torch.exp(-0.5 * ((ch - centre[:, :, None]) / 3) ** 2)
    return (torch.rand_like(rate) < rate).float(), y


x_train, y_train = cochlea(1280)
x_test, y_test = cochlea(256)
net = RecurrentSNN()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)

for epoch in range(3):
    for idx in torch.randperm(len(x_train)).split(128):
        logits, rate = net(x_train[idx])
        loss = F.cross_entropy(logits, y_train[idx]) + 2.0 * (rate - 0.05).pow(2)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
    with torch.no_grad():
        logits, rate = net(x_test)
        acc = (logits.argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.4f}  acc {acc:.3f}  mean rate {rate.item():.3f}")
'''
