NAME = 'Bayesian neural network sampled with SGLD; posterior predictive mean, spread and coverage.'
FAULT = 'The weights of all 640 posterior samples are collected in a list before the predictive mean is taken, though each is used once and can be dropped.'
CURE = 'Feed the sampler (a generator) to predictive() directly rather than through list().'
KIND = 'memory'
FAULT_LINES = [
    'posterior = list(sgld(energy))',
    'weights = {k: v.detach().clone() for k, v in net.named_parameters()}',
    'yield weights, log_noise.item()',
    'mean, std = predictive(Xte, posterior)',
]
FAULT_CALLS = ['clone', 'sgld', 'list', 'aten::clone']
FAULTY = r"""
# Bayesian neural network with SGLD, UCI-like energy data
import math
import numpy as np
import torch
import torch.nn as nn
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(13)
rng = np.random.default_rng(13)

N, D = 4000, 12
W = 600
BURN_IN, STEPS, THIN = 80, 640, 1

X = rng.uniform(-2, 2, (N, D)).astype('float32')
f = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * np.abs(X[:, 2]) - 0.3 * X[:, 3] * X[:, 4]
Y = (f + 0.2 * rng.normal(size=N)).astype('float32')[:, None]
X, Y = torch.from_numpy(X), torch.from_numpy(Y)
Xtr, Ytr, Xte, Yte = X[:3600], Y[:3600], X[3600:], Y[3600:]

net = nn.Sequential(
    nn.Linear(D, W), nn.Tanh(),
    nn.Linear(W, W), nn.Tanh(),
    nn.Linear(W, 1),
)
log_noise = nn.Parameter(torch.tensor(-1.0))
everything = list(net.parameters()) + [log_noise]
prior_sd = 1.0
batch = 128


def potential(xb, yb):
    mean = net(xb)
    nll = 0.5 * ((yb - mean) / log_noise.exp()).square() + log_noise
    prior = sum((p ** 2).sum() for p in net.parameters()) / (2 * prior_sd ** 2)
    return nll.mean() * len(Xtr) + prior


def step_size(t, a=4e-6, b=30.0, gamma=0.45):
    return a * (1 + t / b) ** -gamma


@torch.no_grad()
def langevin(lr, temperature=1.0):
    for p in everything:
        noise = torch.randn_like(p) * math.sqrt(2 * lr * temperature)
        p.add_(-lr * p.grad + noise)
        p.grad = None


def sgld(energy):
    for t in range(BURN_IN + STEPS):
        idx = torch.randint(0, len(Xtr), (batch,))
        u = potential(Xtr[idx], Ytr[idx])
        u.backward()
        langevin(step_size(t), temperature=0.05)
        energy.append(u.item() / len(Xtr))
        if t >= BURN_IN and t % THIN == 0:
            weights = {k: v.detach().clone() for k, v in net.named_parameters()}
            yield weights, log_noise.item()


def predictive(x, posterior):
    first = torch.zeros(len(x), 1)
    second = torch.zeros(len(x), 1)
    n = 0
    for weights, ls in posterior:
        with torch.no_grad():
            m = functional_call(net, weights, (x,))
        first += m
        second += m ** 2 + math.exp(2 * ls)
        n += 1
    first /= n
    second /= n
    return first, (second - first ** 2).sqrt()


energy = []
posterior = list(sgld(energy))
mean, std = predictive(Xte, posterior)

rmse = (mean - Yte).square().mean().sqrt().item()
inside = ((Yte - mean).abs() < 1.645 * std).float().mean().item()
print(f'potential/N: {np.mean(energy[:20]):.3f} -> {np.mean(energy[-20:]):.3f}')
print(f'rmse {rmse:.3f}  mean predictive sd {std.mean():.3f}  90% coverage {inside:.3f}')
"""
CURED = r"""
# Bayesian neural network with SGLD, UCI-like energy data
import math
import numpy as np
import torch
import torch.nn as nn
from torch.func import functional_call

torch.set_num_threads(1)
torch.manual_seed(13)
rng = np.random.default_rng(13)

N, D = 4000, 12
W = 600
BURN_IN, STEPS, THIN = 80, 640, 1

X = rng.uniform(-2, 2, (N, D)).astype('float32')
f = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * np.abs(X[:, 2]) - 0.3 * X[:, 3] * X[:, 4]
Y = (f + 0.2 * rng.normal(size=N)).astype('float32')[:, None]
X, Y = torch.from_numpy(X), torch.from_numpy(Y)
Xtr, Ytr, Xte, Yte = X[:3600], Y[:3600], X[3600:], Y[3600:]

net = nn.Sequential(
    nn.Linear(D, W), nn.Tanh(),
    nn.Linear(W, W), nn.Tanh(),
    nn.Linear(W, 1),
)
log_noise = nn.Parameter(torch.tensor(-1.0))
everything = list(net.parameters()) + [log_noise]
prior_sd = 1.0
batch = 128


def potential(xb, yb):
    mean = net(xb)
    nll = 0.5 * ((yb - mean) / log_noise.exp()).square() + log_noise
    prior = sum((p ** 2).sum() for p in net.parameters()) / (2 * prior_sd ** 2)
    return nll.mean() * len(Xtr) + prior


def step_size(t, a=4e-6, b=30.0, gamma=0.45):
    return a * (1 + t / b) ** -gamma


@torch.no_grad()
def langevin(lr, temperature=1.0):
    for p in everything:
        noise = torch.randn_like(p) * math.sqrt(2 * lr * temperature)
        p.add_(-lr * p.grad + noise)
        p.grad = None


def sgld(energy):
    for t in range(BURN_IN + STEPS):
        idx = torch.randint(0, len(Xtr), (batch,))
        u = potential(Xtr[idx], Ytr[idx])
        u.backward()
        langevin(step_size(t), temperature=0.05)
        energy.append(u.item() / len(Xtr))
        if t >= BURN_IN and t % THIN == 0:
            weights = {k: v.detach().clone() for k, v in net.named_parameters()}
            yield weights, log_noise.item()


def predictive(x, posterior):
    first = torch.zeros(len(x), 1)
    second = torch.zeros(len(x), 1)
    n = 0
    for weights, ls in posterior:
        with torch.no_grad():
            m = functional_call(net, weights, (x,))
        first += m
        second += m ** 2 + math.exp(2 * ls)
        n += 1
    first /= n
    second /= n
    return first, (second - first ** 2).sqrt()


energy = []
mean, std = predictive(Xte, sgld(energy))

rmse = (mean - Yte).square().mean().sqrt().item()
inside = ((Yte - mean).abs() < 1.645 * std).float().mean().item()
print(f'potential/N: {np.mean(energy[:20]):.3f} -> {np.mean(energy[-20:]):.3f}')
print(f'rmse {rmse:.3f}  mean predictive sd {std.mean():.3f}  90% coverage {inside:.3f}')
"""
