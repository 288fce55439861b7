NAME = 'Fits the hyper-parameters of an exact Gaussian process to a tide gauge (a Cholesky factorisation per step, in double precision).'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r"""
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def tide_gauge(n=900):
    t = torch.sort(torch.rand(n) * 30).values
    level = 1.2 * torch.sin(2 * math.pi * t / 0.517) + 0.5 * torch.sin(2 * math.pi * t / 6.3) + 0.03 * (t - 15)
    return t, level + 0.15 * torch.randn(n)


class TideGP(nn.Module):
    '''Exact GP: periodic times slow RBF, plus RBF trend, plus noise.'''

    def __init__(self, t):
        super().__init__()
        d = t[:, None] - t[None, :]
        self.register_buffer("sq", d.square())
        self.register_buffer("absd", d.abs())
        self.raw = nn.ParameterDict({
            "amp": nn.Parameter(torch.tensor(0.0)), "period": nn.Parameter(torch.tensor(math.log(0.52))),
            "smooth": nn.Parameter(torch.tensor(0.0)), "decay": nn.Parameter(torch.tensor(3.0)),
            "trend": nn.Parameter(torch.tensor(0.0)), "scale": nn.Parameter(torch.tensor(0.5)),
            "noise": nn.Parameter(torch.tensor(-1.0))})

    def kernel(self, sq, absd):
        p = {k: v.exp() for k, v in self.raw.items()}
        periodic = torch.exp(-2.0 * torch.sin(math.pi * absd / p["period"]).square() / p["smooth"] ** 2)
        tide = p["amp"] ** 2 * periodic * torch.exp(-0.5 * sq / p["decay"] ** 2)
        return tide + p["trend"] ** 2 * torch.exp(-0.5 * sq / p["scale"] ** 2)

    def forward(self, y):
        K = self.kernel(self.sq, self.absd)
        K = K + torch.diag_embed((self.raw["noise"].exp() ** 2 + 1e-6).expand(len(y)))
        L = torch.linalg.cholesky(K)
        z = torch.linalg.solve_triangular(L, y[:, None], upper=False)
        alpha = torch.linalg.solve_triangular(L.T, z, upper=True)
        nll = 0.5 * (y @ alpha.squeeze(-1)) + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)
        return nll / len(y), L, alpha


t, y = tide_gauge()
train = torch.ones(len(t), dtype=torch.bool)
train[::9] = False
gp = TideGP(t[train])
opt = torch.optim.Adam(gp.parameters(), lr=0.05)
history = []
for step in range(45):
    nll, L, alpha = gp(y[train])
    opt.zero_grad()
    nll.backward()
    opt.step()
    history.append(nll.item())
    if step % 10 == 9:
        print(f"step {step} nll {history[-1]:.3f} period {gp.raw['period'].exp().item():.4f}")

with torch.no_grad():
    _, L, alpha = gp(y[train])
    d = t[~train][:, None] - t[train][None, :]
    cross = gp.kernel(d.square(), d.abs())
    mean = (cross @ alpha).squeeze(-1)
    print(f"held-out rmse {(mean - y[~train]).square().mean().sqrt().item():.3f}")
torch.set_default_dtype(torch.float32)
"""
