NAME = 'Fits the hyperparameters of a Gaussian process with almost noise-free data by the marginal likelihood and predicts.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'Double precision is needed (in single precision the Cholesky decomposition of this nearly singular matrix fails) and the decomposition has to be made in each step because the hyperparameters have changed.'

GOOD = r'''import math
import torch

torch.set_num_threads(1)
torch.manual_seed(0)

DTYPE = torch.float64
N_TRAIN, N_TEST, DIM, STEPS = 500, 1000, 3, 200


def simulator(x):
    """A smooth response of a computer experiment, observed without noise."""
    return (
        torch.sin(2.0 * x[:, 0]) * torch.exp(-0.5 * x[:, 1])
        + 0.4 * torch.cos(x[:, 1] + 1.5 * x[:, 2])
        + 0.1 * x[:, 0] * x[:, 2]
    )


class GaussianProcess:
    def __init__(self, x, y):
        self.x, self.mean = x, y.mean()
        self.y = y - self.mean
        self.log_length = torch.zeros(DIM, dtype=DTYPE, requires_grad=True)
        self.log_signal = torch.zeros((), dtype=DTYPE, requires_grad=True)
        self.log_noise = torch.tensor(math.log(1e-3), dtype=DTYPE, requires_grad=True)

    def parameters(self):
        return [self.log_length, self.log_signal, self.log_noise]

    def kernel(self, a, b):
        scale = torch.exp(-self.log_length)
        a, b = a * scale, b * scale
        sq = a.square().sum(1)[:, None] + b.square().sum(1) - 2 * a @ b.T
        return torch.exp(2 * self.log_signal - 0.5 * sq.clamp(min=0))

    def cholesky(self):
        jitter = torch.exp(2 * self.log_noise) + 1e-9
        k = self.kernel(self.x, self.x)
        return torch.linalg.cholesky(k + jitter * torch.eye(len(self.x), dtype=DTYPE))

    def negative_log_likelihood(self):
        chol = self.cholesky()
        white = torch.linalg.solve_triangular(chol, self.y[:, None], upper=False)
        return (
            0.5 * white.square().sum()
            + chol.diagonal().log().sum()
            + 0.5 * len(self.y) * math.log(2 * math.pi)
        )

    @torch.no_grad()
    def predict(self, x_new):
        chol = self.cholesky()
        cross = torch.linalg.solve_triangular(chol, self.kernel(self.x, x_new), upper=False)
        white = torch.linalg.solve_triangular(chol, self.y[:, None], upper=False)
        variance = torch.exp(2 * self.log_signal) - cross.square().sum(0)
        return self.mean + (cross.T @ white).squeeze(1), variance.clamp(min=1e-12)


def latin_hypercube(n):
    cells = torch.stack([torch.randperm(n) for _ in range(DIM)], dim=1)
    return 4 * (cells + torch.rand(n, DIM, dtype=DTYPE)) / n - 2


x_train, x_test = latin_hypercube(N_TRAIN), latin_hypercube(N_TEST)
y_train, y_test = simulator(x_train), simulator(x_test)

gp = GaussianProcess(x_train, y_train)
optimizer = torch.optim.Adam(gp.parameters(), lr=0.05)
for step in range(1, STEPS + 1):
    optimizer.zero_grad()
    nll = gp.negative_log_likelihood()
    nll.backward()
    optimizer.step()
    if step % 40 == 0:
        lengths = " ".join(f"{v:.2f}" for v in gp.log_length.exp().tolist())
        print(f"step {step:3d} nll {nll.item():.1f} lengths {lengths} noise {gp.log_noise.exp().item():.1e}")

mean, variance = gp.predict(x_test)
rmse = (mean - y_test).square().mean().sqrt().item()
covered = ((mean - y_test).abs() < 2 * variance.sqrt()).double().mean().item()
print(f"relative rmse {rmse / y_test.std().item():.1e}, inside two sd {covered:.3f}")
'''
