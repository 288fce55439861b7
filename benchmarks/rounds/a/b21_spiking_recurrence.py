NAME = 'spiking network with surrogate gradients, a needed loop over time with reset'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = '''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
T, B, D, H, C = 40, 256, 100, 512, 5


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v):
        ctx.save_for_backward(v)
        return (v > 0).to(v.dtype)

    @staticmethod
    def backward(ctx, g):
        (v,) = ctx.saved_tensors
        return g / (1 + 10 * v.abs()).pow(2)


class RSNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(D, H)
        self.rec = nn.Linear(H, H, bias=False)
        self.out = nn.Linear(H, C)
        nn.init.orthogonal_(self.rec.weight, 0.5)

    def forward(self, x):
        drive = self.inp(x)                   # all time steps at once
        v = torch.zeros(x.size(1), H)
        s = torch.zeros(x.size(1), H)
        count = torch.zeros(x.size(1), H)
        for cur in drive.unbind(0):           # the reset makes each step depend on the last
            v = 0.9 * v * (1 - s) + cur + self.rec(s)
            s = Spike.apply(v - 1.0)
            count = count + s
        return self.out(count / x.size(0))


net = RSNN()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
rate = torch.rand(C, D)
hits = n = 0
for step in range(14):
    y = torch.randint(0, C, (B,))
    x = (torch.rand(T, B, D) < rate[y] * 0.5).float()
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    hits += (logits.argmax(1) == y).sum().item(); n += B
print(f"online accuracy {hits / n:.3f}, last loss {loss.item():.4f}")
'''
