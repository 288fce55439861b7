NAME = "Fits a variational Bayesian network to dose-response data and summarises its posterior predictive distribution and calibration."
FAULT = "The posterior predictive draws are made with autograd on and kept in a list, so the graph and activations of all draws are held until the end."
CURE = "Run the posterior predictive function under torch.no_grad()."
KIND = "memory"
FAULT_LINES = ["draws.append(net(x))", "def posterior_predictive(net, x, n_draws):"]
FAULT_CALLS = ["posterior_predictive", "softplus", "linear", "addmm", "forward", "tanh", "mul", "add"]
FAULTY = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(99)


class VarLinear(nn.Module):
    """Mean-field Gaussian layer with the local reparameterisation trick."""

    def __init__(self, n_in, n_out, prior_sd=1.0):
        super().__init__()
        self.mu = nn.Parameter(torch.randn(n_out, n_in) / math.sqrt(n_in))
        self.rho = nn.Parameter(torch.full((n_out, n_in), -5.0))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.prior_sd = prior_sd

    def forward(self, x):
        sd = F.softplus(self.rho)
        m = F.linear(x, self.mu, self.bias)
        v = F.linear(x * x, sd * sd)
        return m + (v + 1e-8).sqrt() * torch.randn_like(m)

    def kl(self):
        sd = F.softplus(self.rho)
        p = self.prior_sd
        return (math.log(p) - sd.log() + (sd ** 2 + self.mu ** 2) / (2 * p ** 2) - 0.5).sum()


class DoseNet(nn.Module):
    def __init__(self, n_in, h=96):
        super().__init__()
        self.l1, self.l2, self.l3 = VarLinear(n_in, h), VarLinear(h, h), VarLinear(h, 1)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x):
        h = torch.tanh(self.l1(x))
        h = torch.tanh(self.l2(h))
        return self.l3(h).squeeze(-1)

    def kl(self):
        return self.l1.kl() + self.l2.kl() + self.l3.kl()


def simulate(n):
    dose = torch.rand(n) * 4 - 2
    cov = torch.randn(n, 5)
    ec50 = 0.4 * cov[:, 0] - 0.2 * cov[:, 1]
    top = 1.0 + 0.3 * torch.tanh(cov[:, 2])
    y = top * torch.sigmoid(3 * (dose - ec50)) + 0.12 * torch.randn(n)
    return torch.cat([dose[:, None], cov], 1), y


x_tr, y_tr = simulate(6000)
x_te, y_te = simulate(4000)
net = DoseNet(x_tr.shape[1])
opt = torch.optim.Adam(net.parameters(), lr=3e-3)

for epoch in range(50):
    tot = 0.0
    for idx in torch.randperm(len(x_tr)).split(200):
        mu = net(x_tr[idx])
        nll = 0.5 * ((y_tr[idx] - mu) / net.log_noise.exp()).pow(2).mean() + net.log_noise
        loss = nll + net.kl() / len(x_tr)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1:2d}  -ELBO/n {tot / len(x_tr):.4f}  noise {net.log_noise.exp().item():.3f}")


def posterior_predictive(net, x, n_draws):
    draws = []
    for _ in range(n_draws):
        draws.append(net(x))
    f = torch.stack(draws)
    return f + net.log_noise.exp() * torch.randn_like(f)


pred = posterior_predictive(net, x_te, 40)
lo, mid, hi = torch.quantile(pred, torch.tensor([0.05, 0.5, 0.95]), dim=0)
rmse = (mid - y_te).pow(2).mean().sqrt()
cover = ((y_te > lo) & (y_te < hi)).float().mean()
print(f"test RMSE {rmse.item():.3f}, 90% interval covers {cover.item():.3f}, mean width {(hi - lo).mean().item():.3f}")
'''
CURED = FAULTY.replace("def posterior_predictive(", "@torch.no_grad()\ndef posterior_predictive(")
