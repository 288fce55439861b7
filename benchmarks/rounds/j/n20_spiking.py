NAME = 'Trains a recurrent spiking network step by step through time.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(29)
torch.set_num_threads(1)

# spike trains of 80 channels; the class is the order in which channel groups fire
N, T, CH, H, C = 640, 60, 80, 700, 6
orders = torch.stack([torch.randperm(4) for _ in range(C)])
y = torch.randint(0, C, (N,))
rate = torch.full((N, T, CH), 0.02)
for i in range(N):
    for slot, grp in enumerate(orders[y[i]].tolist()):
        rate[i, slot * 15:slot * 15 + 15, grp * 20:grp * 20 + 20] = 0.18
X = (torch.rand(N, T, CH) < rate).float()


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).float()

    @staticmethod
    def backward(ctx, grad):
        v, = ctx.saved_tensors
        return grad / (1 + 5 * v.abs()) ** 2


class RecurrentLIF(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(CH, H)
        self.rec = nn.Linear(H, H, bias=False)
        self.out = nn.Linear(H, C)
        nn.init.normal_(self.rec.weight, std=0.4 / H ** 0.5)
        nn.init.normal_(self.inp.weight, std=1.5 / CH ** 0.5)

    def forward(self, x):
        drive = self.inp(x).unbind(1)          # all input currents at once
        v = torch.zeros(len(x), H)
        s = torch.zeros(len(x), H)
        count = torch.zeros(len(x), H)
        for cur in drive:
            # the spikes of this step are the input of the next
            v = torch.addmm(cur, s, self.rec.weight.T) + 0.85 * v - s
            s = Spike.apply(v - 1.0)
            count = count + s
        return self.out(count / T), count.mean() / T


net = RecurrentLIF()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
n_train = 512
for epoch in range(7):
    total = fired = 0.0
    for idx in torch.randperm(n_train).split(128):
        out, r = net(X[idx])
        loss = F.cross_entropy(out, y[idx]) + 0.5 * (r - 0.08).clamp_min(0) ** 2
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        total += loss.item() / 4
        fired += r.item() / 4
    with torch.no_grad():
        acc = (net(X[n_train:])[0].argmax(1) == y[n_train:]).float().mean().item()
    print(f"epoch {epoch} loss {total:.4f} firing rate {fired:.4f} val acc {acc:.3f}")
"""
