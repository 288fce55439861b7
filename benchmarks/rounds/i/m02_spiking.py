# Looks suspicious: a Python loop over time steps inside forward with small operations, backward through time keeping every step.
# Right: the membrane is reset by the spikes of the step before and the spikes feed back through W_rec, so step t needs step t-1 (nonlinear recurrence,
# no scan, no nn.RNN does this). The part that does not depend on the state (input projection of all steps) is already done once outside the loop.

NAME = 'Trains a small recurrent spiking network (leaky integrate-and-fire with surrogate gradient) on synthetic event streams.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


class SpikeFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 10 * v.abs()) ** 2


spike = SpikeFn.apply


class RecurrentLIF(nn.Module):
    def __init__(self, n_in, n_hid, n_out, tau=20.0):
        super().__init__()
        self.inp = nn.Linear(n_in, n_hid)
        self.rec = nn.Linear(n_hid, n_hid, bias=False)
        self.out = nn.Linear(n_hid, n_out)
        nn.init.normal_(self.rec.weight, std=0.3 / math.sqrt(n_hid))
        self.beta = math.exp(-1.0 / tau)

    def forward(self, x):                       # x: (T, B, n_in) of 0/1 events
        cur = self.inp(x)                       # every step at once
        v = torch.zeros_like(cur[0])
        s = torch.zeros_like(v)
        count = torch.zeros_like(v)
        for t in range(x.shape[0]):
            v = self.beta * v * (1 - s) + cur[t] + self.rec(s)
            s = spike(v - 1.0)
            count = count + s
        return self.out(count / x.shape[0]), count


def make_batch(B, T, n_in, proto):
    y = torch.randint(0, proto.shape[0], (B,))
    rate = proto[y]                             # (B, n_in)
    x = (torch.rand(T, B, n_in) < rate).float()
    return x, y


T, n_in, n_cls = 50, 120, 8
proto = 0.02 + 0.25 * torch.rand(n_cls, n_in) ** 4
net = RecurrentLIF(n_in, 384, n_cls)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)

for step in range(38):
    x, y = make_batch(160, T, n_in, proto)
    logits, count = net(x)
    loss = nn.functional.cross_entropy(logits, y) + 1e-5 * count.mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 10 == 0:
        acc = (logits.argmax(1) == y).float().mean()
        print(step, f"loss {loss.item():.3f} acc {acc.item():.2f} spikes/neuron {count.mean().item():.1f}")
print("final loss", round(loss.item(), 4))
"""
