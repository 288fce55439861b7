NAME = 'Samples a hierarchical logistic model of school pass rates with parallel HMC chains and reports R-hat and effective sample sizes.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'A Python loop over leapfrog steps with a full-data gradient each, and all draws kept, look wasteful, but HMC is sequential, the gradient of the last state is carried over, the chains are batched and the draws are needed for R-hat and autocorrelation.'
GOOD = r"""
import math
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.manual_seed(9)
torch.set_default_dtype(torch.float64)

# ---- data: pupils in schools, two covariates, varying intercepts
SCHOOLS, PUPILS, CHAINS = 20, 1200, 6
school = torch.randint(0, SCHOOLS, (PUPILS,))
z = torch.randn(PUPILS, 2)
true_a = 0.4 + 0.7 * torch.randn(SCHOOLS)
p = torch.sigmoid(true_a[school] + z @ torch.tensor([0.8, -0.5]))
passed = torch.bernoulli(p)
print('pass rate', passed.mean().item())
onehot = torch.nn.functional.one_hot(school, SCHOOLS).to(z)
design = torch.cat([onehot, z], 1)
DIM = SCHOOLS + 4        # raw school effects, 2 slopes, mean, log sd


def log_post(q):
    # non-centred parametrisation, one row per chain
    raw, slope, mu, log_sd = q.split([SCHOOLS, 2, 1, 1], 1)
    a = mu + log_sd.exp() * raw
    eta = torch.cat([a, slope], 1) @ design.T
    lik = (passed * eta - torch.nn.functional.softplus(eta)).sum(1)
    prior = -0.5 * (raw.pow(2).sum(1) + slope.pow(2).sum(1) / 4 + mu.pow(2).sum(1) / 4 + log_sd.pow(2).sum(1))
    return lik + prior


def value_and_grad(q):
    q = q.detach().requires_grad_()
    lp = log_post(q)
    g, = torch.autograd.grad(lp.sum(), q)
    return lp.detach(), g


def hmc(q, warmup=200, draws=400, leapfrog=12):
    log_eps, target = math.log(0.02), 0.8
    lp, g = value_and_grad(q)
    samples, accepts = [], []
    for it in range(warmup + draws):
        eps = math.exp(log_eps) * (0.9 + 0.2 * torch.rand(1).item())
        m = torch.randn_like(q)
        qn, gn = q, g
        mn = m + 0.5 * eps * gn
        for k in range(leapfrog):
            qn = qn + eps * mn
            lpn, gn = value_and_grad(qn)
            mn = mn + (eps if k < leapfrog - 1 else 0.5 * eps) * gn
        log_ratio = lpn - lp + 0.5 * (m.pow(2).sum(1) - mn.pow(2).sum(1))
        prob = log_ratio.clamp(max=0).exp()
        take = torch.rand(CHAINS) < prob
        q = torch.where(take[:, None], qn, q)
        g = torch.where(take[:, None], gn, g)
        lp = torch.where(take, lpn, lp)
        if it < warmup:
            log_eps += 0.1 * (prob.mean().item() - target)
        else:
            samples.append(q)
            accepts.append(prob.mean().item())
    return torch.stack(samples, 1), np.mean(accepts), math.exp(log_eps)


draws, acc, eps = hmc(0.1 * torch.randn(CHAINS, DIM))
print(f'acceptance {acc:.3f}, step size {eps:.4f}, draws {tuple(draws.shape)}')

# split R-hat and effective sample size per parameter
half = torch.cat(draws.chunk(2, dim=1))
n = half.shape[1]
w, b = half.var(1).mean(0), n * half.mean(1).var(0)
rhat = (((n - 1) / n * w + b / n) / w).sqrt()
c = draws - draws.mean(1, keepdim=True)
rho = torch.stack([(c[:, k:] * c[:, :c.shape[1] - k]).mean((0, 1)) for k in range(60)]) / c.pow(2).mean((0, 1))
ess = CHAINS * draws.shape[1] / (1 + 2 * rho[1:].clamp_min(0).sum(0))
print('largest R-hat', round(rhat.max().item(), 4), ' smallest ESS', int(ess.min()))
print('slopes', draws[..., SCHOOLS:SCHOOLS + 2].mean((0, 1)).tolist())

plt.plot(draws[:, :, -1].T, lw=0.5)
plt.ylabel('log sd of schools')
plt.show()
"""
