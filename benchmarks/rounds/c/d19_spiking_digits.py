NAME = 'd19_spiking_digits'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import torch
import torch.nn as nn

torch.manual_seed(0)


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return (u > 0).to(u.dtype)

    @staticmethod
    def backward(ctx, g):
        (u,) = ctx.saved_tensors
        return g / (1 + 10 * u.abs()) ** 2


class SNN(nn.Module):
    def __init__(self, n_in, hidden, n_out, alpha=0.9):
        super().__init__()
        self.w_in = nn.Linear(n_in, hidden)
        self.rec = nn.Linear(hidden, hidden, bias=False)
        self.w_out = nn.Linear(hidden, n_out)
        nn.init.normal_(self.rec.weight, std=0.3 / hidden ** 0.5)
        self.alpha = alpha

    def forward(self, x):
        drive = self.w_in(x)
        u = torch.zeros_like(drive[0])
        s = torch.zeros_like(u)
        total = torch.zeros_like(u)
        for t in range(len(drive)):
            u = self.alpha * u * (1 - s) + drive[t] + self.rec(s)
            s = Spike.apply(u - 1.0)
            total = total + s
        return self.w_out(total / len(drive)), total.detach().mean()


T, B, N_IN = 40, 96, 200
protos = torch.rand(10, N_IN) * 0.3
model = SNN(N_IN, 768, 10)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)

for it in range(12):
    y = torch.randint(0, 10, (B,))
    x = (torch.rand(T, B, N_IN) < protos[y]).float()
    logits, rate = model(x)
    loss = nn.functional.cross_entropy(logits, y) + 0.0 * rate
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()

print("loss %.3f, spikes per neuron %.2f" % (loss.item(), rate.item()))
"""
