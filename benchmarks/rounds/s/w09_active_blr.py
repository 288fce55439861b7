NAME = 'Active learning with Bayesian linear regression on random Fourier features: always measures where the predictive variance is highest.'
FAULT = 'The predictive variances are taken from the diagonal of the full pool-by-pool covariance matrix.'
CURE = 'Compute only the diagonal: (phi @ cov * phi).sum(1).'
KIND = 'time'
FAULT_LINES = [
    'return phi @ mean, torch.diag(phi @ cov @ phi.T) + self.noise ** 2',
    'mu, var = model.predict(pool_phi)',
]
FAULT_CALLS = ['diag', '@', 'predict', 'matmul', '__matmul__', 'mm']

FAULTY = r'''import math
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

DIM, N_FEATURES, POOL, ROUNDS, PER_ROUND = 3, 400, 1800, 120, 4


def blackbox(x):
    return torch.sin(3 * x[:, 0]) * torch.cos(2 * x[:, 1]) + 0.5 * x[:, 2] ** 2


class FourierFeatures:
    """Random features of an RBF kernel."""

    def __init__(self, lengthscale):
        self.omega = torch.randn(DIM, N_FEATURES) / lengthscale
        self.phase = 2 * math.pi * torch.rand(N_FEATURES)

    def __call__(self, x):
        return math.sqrt(2.0 / N_FEATURES) * torch.cos(x @ self.omega + self.phase)


class BayesianRegression:
    def __init__(self, noise=0.003, prior=1.0):
        self.noise = noise
        self.precision = torch.eye(N_FEATURES) / prior ** 2
        self.moment = torch.zeros(N_FEATURES)

    def update(self, phi, y):
        self.precision += phi.T @ phi / self.noise ** 2
        self.moment += phi.T @ y / self.noise ** 2

    def posterior(self):
        cov = torch.cholesky_inverse(torch.linalg.cholesky(self.precision))
        return cov @ self.moment, cov

    def predict(self, phi):
        mean, cov = self.posterior()
        return phi @ mean, torch.diag(phi @ cov @ phi.T) + self.noise ** 2


features = FourierFeatures(lengthscale=1.5)
pool = torch.rand(POOL, DIM) * 4 - 2
pool_phi = features(pool)
pool_y = blackbox(pool)
available = torch.ones(POOL, dtype=torch.bool)

model = BayesianRegression()
first = torch.randperm(POOL)[:10]
model.update(pool_phi[first], pool_y[first])
available[first] = False

history = []
for r in range(1, ROUNDS + 1):
    mu, var = model.predict(pool_phi)
    rmse = (mu - pool_y).pow(2).mean().sqrt().item()
    history.append(rmse)
    if r % 20 == 0:
        print(f"round {r:3d}  measured {int((~available).sum()):4d}  rmse {rmse:.4f}  max sd {var.max().sqrt().item():.4f}")
    chosen = var.masked_fill(~available, -1.0).topk(PER_ROUND).indices
    y = pool_y[chosen] + 0.003 * torch.randn(PER_ROUND)
    model.update(pool_phi[chosen], y)
    available[chosen] = False

test = torch.rand(1000, DIM) * 4 - 2
mu, var = model.predict(features(test))
z = (blackbox(test) - mu) / var.sqrt()
print(f"test rmse {(mu - blackbox(test)).pow(2).mean().sqrt().item():.4f}")
print(f"within two sd {(z.abs() < 2).double().mean().item():.3f}")
print(f"best pool rmse {min(history):.4f}")
'''

CURED = r'''import math
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

DIM, N_FEATURES, POOL, ROUNDS, PER_ROUND = 3, 400, 1800, 120, 4


def blackbox(x):
    return torch.sin(3 * x[:, 0]) * torch.cos(2 * x[:, 1]) + 0.5 * x[:, 2] ** 2


class FourierFeatures:
    """Random features of an RBF kernel."""

    def __init__(self, lengthscale):
        self.omega = torch.randn(DIM, N_FEATURES) / lengthscale
        self.phase = 2 * math.pi * torch.rand(N_FEATURES)

    def __call__(self, x):
        return math.sqrt(2.0 / N_FEATURES) * torch.cos(x @ self.omega + self.phase)


class BayesianRegression:
    def __init__(self, noise=0.003, prior=1.0):
        self.noise = noise
        self.precision = torch.eye(N_FEATURES) / prior ** 2
        self.moment = torch.zeros(N_FEATURES)

    def update(self, phi, y):
        self.precision += phi.T @ phi / self.noise ** 2
        self.moment += phi.T @ y / self.noise ** 2

    def posterior(self):
        cov = torch.cholesky_inverse(torch.linalg.cholesky(self.precision))
        return cov @ self.moment, cov

    def predict(self, phi):
        mean, cov = self.posterior()
        return phi @ mean, (phi @ cov * phi).sum(1) + self.noise ** 2


features = FourierFeatures(lengthscale=1.5)
pool = torch.rand(POOL, DIM) * 4 - 2
pool_phi = features(pool)
pool_y = blackbox(pool)
available = torch.ones(POOL, dtype=torch.bool)

model = BayesianRegression()
first = torch.randperm(POOL)[:10]
model.update(pool_phi[first], pool_y[first])
available[first] = False

history = []
for r in range(1, ROUNDS + 1):
    mu, var = model.predict(pool_phi)
    rmse = (mu - pool_y).pow(2).mean().sqrt().item()
    history.append(rmse)
    if r % 20 == 0:
        print(f"round {r:3d}  measured {int((~available).sum()):4d}  rmse {rmse:.4f}  max sd {var.max().sqrt().item():.4f}")
    chosen = var.masked_fill(~available, -1.0).topk(PER_ROUND).indices
    y = pool_y[chosen] + 0.003 * torch.randn(PER_ROUND)
    model.update(pool_phi[chosen], y)
    available[chosen] = False

test = torch.rand(1000, DIM) * 4 - 2
mu, var = model.predict(features(test))
z = (blackbox(test) - mu) / var.sqrt()
print(f"test rmse {(mu - blackbox(test)).pow(2).mean().sqrt().item():.4f}")
print(f"within two sd {(z.abs() < 2).double().mean().item():.3f}")
print(f"best pool rmse {min(history):.4f}")
'''
