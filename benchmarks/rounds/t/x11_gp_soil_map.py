NAME = 'Fits a Gaussian process to soil-moisture probes and maps mean and standard deviation on a fine grid.'
FAULT = 'For the map, the full covariance matrix between all grid points is computed (kernel and matrix product), although only its diagonal, the pointwise variance, is used.'
CURE = 'Compute only the diagonal: prior variance minus the column sums of squares of the solved triangular system.'
KIND = 'time'
FAULT_LINES = ['cov = self.kernel(xs, xs) - solved.T @ solved', 'var = cov.diagonal()']
FAULT_CALLS = ['kernel', 'matmul', 'cdist', 'predict', 'exp', 'mm', '__matmul__']
FAULTY = r"""import math
import torch

torch.set_num_threads(1)
torch.manual_seed(19)
torch.set_default_dtype(torch.float64)


def moisture(xy):
    return torch.sin(3 * xy[:, 0]) * torch.cos(2 * xy[:, 1]) + 0.5 * torch.exp(-4 * (xy - 1.2).pow(2).sum(1))


probes = 2 * torch.rand(700, 2)
readings = moisture(probes) + 0.1 * torch.randn(700)


class SoilGP:
    def __init__(self):
        self.raw = torch.tensor([0.0, 0.0, -2.0], requires_grad=True)

    @property
    def params(self):
        return self.raw.exp()

    def kernel(self, a, b):
        length, scale, _ = self.params
        r = torch.cdist(a, b) / length * math.sqrt(3)
        return scale * (1 + r) * torch.exp(-r)

    def factor(self, x):
        noise = self.params[2]
        return torch.linalg.cholesky(self.kernel(x, x) + (noise + 1e-6) * torch.eye(len(x)))

    def nll(self, x, y):
        chol = self.factor(x)
        alpha = torch.cholesky_solve(y.unsqueeze(1), chol).squeeze(1)
        return 0.5 * y @ alpha + chol.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)

    def fit(self, x, y, steps=40):
        opt = torch.optim.Adam([self.raw], lr=0.1)
        for step in range(1, steps + 1):
            opt.zero_grad()
            loss = self.nll(x, y)
            loss.backward()
            opt.step()
            if step % 20 == 0:
                print(f"step {step}: nll {loss.item():.3f}")
        with torch.no_grad():
            self.x, self.chol = x, self.factor(x)
            self.alpha = torch.cholesky_solve(y.unsqueeze(1), self.chol)

    @torch.no_grad()
    def predict(self, xs):
        cross = self.kernel(self.x, xs)
        mean = (cross.T @ self.alpha).squeeze(1)
        solved = torch.linalg.solve_triangular(self.chol, cross, upper=False)
        cov = self.kernel(xs, xs) - solved.T @ solved
        var = cov.diagonal()
        return mean, var.clamp_min(0).sqrt()


gp = SoilGP()
gp.fit(probes, readings)
length, scale, noise = gp.params.tolist()
print(f"length {length:.3f}, scale {scale:.3f}, noise sd {noise ** 0.5:.3f}")

axis = torch.linspace(0, 2, 120)
grid = torch.cartesian_prod(axis, axis)
means, stds = [], []
for tile in grid.split(3600):
    mean, std = gp.predict(tile)
    means.append(mean)
    stds.append(std)
mean, std = torch.cat(means), torch.cat(stds)

truth = moisture(grid)
inside = ((mean - truth).abs() < 1.96 * std).double().mean().item()
print(f"map rmse {(mean - truth).pow(2).mean().sqrt().item():.4f}, coverage {inside:.3f}")
print(f"std: min {std.min().item():.4f} mean {std.mean().item():.4f} max {std.max().item():.4f}")
row = std.view(120, 120).argmax(0)
print(f"next probe near x={axis[row[60]].item():.3f}, y={axis[60].item():.3f}")
"""
CURED = r"""import math
import torch

torch.set_num_threads(1)
torch.manual_seed(19)
torch.set_default_dtype(torch.float64)


def moisture(xy):
    return torch.sin(3 * xy[:, 0]) * torch.cos(2 * xy[:, 1]) + 0.5 * torch.exp(-4 * (xy - 1.2).pow(2).sum(1))


probes = 2 * torch.rand(700, 2)
readings = moisture(probes) + 0.1 * torch.randn(700)


class SoilGP:
    def __init__(self):
        self.raw = torch.tensor([0.0, 0.0, -2.0], requires_grad=True)

    @property
    def params(self):
        return self.raw.exp()

    def kernel(self, a, b):
        length, scale, _ = self.params
        r = torch.cdist(a, b) / length * math.sqrt(3)
        return scale * (1 + r) * torch.exp(-r)

    def factor(self, x):
        noise = self.params[2]
        return torch.linalg.cholesky(self.kernel(x, x) + (noise + 1e-6) * torch.eye(len(x)))

    def nll(self, x, y):
        chol = self.factor(x)
        alpha = torch.cholesky_solve(y.unsqueeze(1), chol).squeeze(1)
        return 0.5 * y @ alpha + chol.diagonal().log().sum() + 0.5 * len(x) * math.log(2 * math.pi)

    def fit(self, x, y, steps=40):
        opt = torch.optim.Adam([self.raw], lr=0.1)
        for step in range(1, steps + 1):
            opt.zero_grad()
            loss = self.nll(x, y)
            loss.backward()
            opt.step()
            if step % 20 == 0:
                print(f"step {step}: nll {loss.item():.3f}")
        with torch.no_grad():
            self.x, self.chol = x, self.factor(x)
            self.alpha = torch.cholesky_solve(y.unsqueeze(1), self.chol)

    @torch.no_grad()
    def predict(self, xs):
        cross = self.kernel(self.x, xs)
        mean = (cross.T @ self.alpha).squeeze(1)
        solved = torch.linalg.solve_triangular(self.chol, cross, upper=False)
        var = self.params[1] - solved.pow(2).sum(0)
        return mean, var.clamp_min(0).sqrt()


gp = SoilGP()
gp.fit(probes, readings)
length, scale, noise = gp.params.tolist()
print(f"length {length:.3f}, scale {scale:.3f}, noise sd {noise ** 0.5:.3f}")

axis = torch.linspace(0, 2, 120)
grid = torch.cartesian_prod(axis, axis)
means, stds = [], []
for tile in grid.split(3600):
    mean, std = gp.predict(tile)
    means.append(mean)
    stds.append(std)
mean, std = torch.cat(means), torch.cat(stds)

truth = moisture(grid)
inside = ((mean - truth).abs() < 1.96 * std).double().mean().item()
print(f"map rmse {(mean - truth).pow(2).mean().sqrt().item():.4f}, coverage {inside:.3f}")
print(f"std: min {std.min().item():.4f} mean {std.mean().item():.4f} max {std.max().item():.4f}")
row = std.view(120, 120).argmax(0)
print(f"next probe near x={axis[row[60]].item():.3f}, y={axis[60].item():.3f}")
"""
