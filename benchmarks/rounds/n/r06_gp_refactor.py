NAME = 'Bayesian optimisation of a simulated reactor yield with a Gaussian process and gradient-based acquisition search.'
FAULT = 'The GP prediction rebuilds and Cholesky-factorises the training kernel matrix at every step of the acquisition search, although data and hyperparameters do not change during the search.'
CURE = 'Factorise once after each new observation (fit) and reuse the factor and the weight vector in every prediction.'
KIND = 'time'
FAULT_LINES = ['L = torch.linalg.cholesky(self.kernel(self.X, self.X) + self.noise * torch.eye(len(self.X)))', 'alpha = torch.cholesky_solve(self.y[:, None], L)', 'mu, var = gp.predict(x)']
FAULT_CALLS = ['predict', 'cholesky', 'cholesky_solve', 'kernel', 'eye', 'linalg_cholesky', 'linalg_cholesky_ex']
FAULTY = r"""
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(8)

DIM = 4
optimum = torch.tensor([0.3, 0.7, 0.55, 0.2])

def reactor_yield(x):
    # pretend experiment: temperature, pressure, flow, catalyst share, all scaled to [0, 1]
    d = (x - optimum)
    return torch.exp(-4 * d.pow(2).sum(-1)) + 0.1 * torch.cos(9 * d).mean(-1) + 0.01 * torch.randn(x.shape[:-1])


class GP:
    def __init__(self, X, y, length=0.35, noise=1e-3):
        self.length, self.noise = length, noise
        self.X, self.mean = X, y.mean()
        self.y = y - self.mean

    def kernel(self, a, b):
        r = torch.sqrt((a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1) + 1e-12) / self.length
        s = 5 ** 0.5 * r
        return 0.1 * (1 + s + s * s / 3) * torch.exp(-s)

    def predict(self, Xs):
        L = torch.linalg.cholesky(self.kernel(self.X, self.X) + self.noise * torch.eye(len(self.X)))
        alpha = torch.cholesky_solve(self.y[:, None], L)
        Ks = self.kernel(self.X, Xs)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        var = 0.1 - v.pow(2).sum(0)
        return (Ks.T @ alpha).squeeze(1) + self.mean, var.clamp_min(1e-9)


def suggest(gp, best, restarts=24, steps=40):
    # maximise expected improvement by gradient ascent from several starts
    z = torch.randn(restarts, DIM, requires_grad=True)
    opt = torch.optim.Adam([z], lr=0.1)
    normal = torch.distributions.Normal(0.0, 1.0)
    for _ in range(steps):
        x = torch.sigmoid(z)
        mu, var = gp.predict(x)
        sd = var.sqrt()
        u = (mu - best) / sd
        ei = sd * (normal.log_prob(u).exp() + u * normal.cdf(u))
        opt.zero_grad()
        (-torch.log(ei + 1e-12).sum()).backward()
        opt.step()
    return torch.sigmoid(z[ei.argmax()]).detach()


# historical screening data, then sequential design
X = torch.rand(420, DIM)
y = reactor_yield(X)
trace = [y.max().item()]
for trial in range(18):
    gp = GP(X, y)
    x_new = suggest(gp, y.max())
    y_new = reactor_yield(x_new)
    X = torch.cat([X, x_new[None]])
    y = torch.cat([y, y_new[None]])
    trace.append(y.max().item())
    if trial % 6 == 5:
        print(f'trial {trial + 1:2d}: best yield {trace[-1]:.4f} at {np.round(X[y.argmax()].numpy(), 3)}')

plt.plot(trace, marker='o')
plt.xlabel('experiments after screening')
plt.ylabel('best yield')
plt.show()
print('distance to optimum', (X[y.argmax()] - optimum).norm().item())
"""
CURED = r"""
import numpy as np
import torch
import matplotlib.pyplot as plt

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)
torch.manual_seed(8)

DIM = 4
optimum = torch.tensor([0.3, 0.7, 0.55, 0.2])

def reactor_yield(x):
    # pretend experiment: temperature, pressure, flow, catalyst share, all scaled to [0, 1]
    d = (x - optimum)
    return torch.exp(-4 * d.pow(2).sum(-1)) + 0.1 * torch.cos(9 * d).mean(-1) + 0.01 * torch.randn(x.shape[:-1])


class GP:
    def __init__(self, X, y, length=0.35, noise=1e-3):
        self.length, self.noise = length, noise
        self.X, self.mean = X, y.mean()
        self.y = y - self.mean
        self.L = torch.linalg.cholesky(self.kernel(X, X) + noise * torch.eye(len(X)))
        self.alpha = torch.cholesky_solve(self.y[:, None], self.L)

    def kernel(self, a, b):
        r = torch.sqrt((a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1) + 1e-12) / self.length
        s = 5 ** 0.5 * r
        return 0.1 * (1 + s + s * s / 3) * torch.exp(-s)

    def predict(self, Xs):
        Ks = self.kernel(self.X, Xs)
        v = torch.linalg.solve_triangular(self.L, Ks, upper=False)
        var = 0.1 - v.pow(2).sum(0)
        return (Ks.T @ self.alpha).squeeze(1) + self.mean, var.clamp_min(1e-9)


def suggest(gp, best, restarts=24, steps=40):
    # maximise expected improvement by gradient ascent from several starts
    z = torch.randn(restarts, DIM, requires_grad=True)
    opt = torch.optim.Adam([z], lr=0.1)
    normal = torch.distributions.Normal(0.0, 1.0)
    for _ in range(steps):
        x = torch.sigmoid(z)
        mu, var = gp.predict(x)
        sd = var.sqrt()
        u = (mu - best) / sd
        ei = sd * (normal.log_prob(u).exp() + u * normal.cdf(u))
        opt.zero_grad()
        (-torch.log(ei + 1e-12).sum()).backward()
        opt.step()
    return torch.sigmoid(z[ei.argmax()]).detach()


# historical screening data, then sequential design
X = torch.rand(420, DIM)
y = reactor_yield(X)
trace = [y.max().item()]
for trial in range(18):
    gp = GP(X, y)
    x_new = suggest(gp, y.max())
    y_new = reactor_yield(x_new)
    X = torch.cat([X, x_new[None]])
    y = torch.cat([y, y_new[None]])
    trace.append(y.max().item())
    if trial % 6 == 5:
        print(f'trial {trial + 1:2d}: best yield {trace[-1]:.4f} at {np.round(X[y.argmax()].numpy(), 3)}')

plt.plot(trace, marker='o')
plt.xlabel('experiments after screening')
plt.ylabel('best yield')
plt.show()
print('distance to optimum', (X[y.argmax()] - optimum).norm().item())
"""
