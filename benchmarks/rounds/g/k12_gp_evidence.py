NAME = 'Gaussian-process hyperparameters by marginal likelihood'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'Everything runs in float64 though deep-learning code usually needs only float32, but the kernel matrix is so ill-conditioned that the float32 Cholesky factorisation fails.'
GOOD = r"""import math
import torch

torch.set_num_threads(1)
torch.manual_seed(23)
dtype = torch.float64

n = 480
x = torch.sort(torch.rand(n, dtype=dtype) * 10).values.unsqueeze(1)
truth = lambda t: torch.sin(1.3 * t) + 0.4 * torch.cos(2.9 * t) + 0.05 * t
y = truth(x).squeeze(1) + 1e-3 * torch.randn(n, dtype=dtype)
x_new = torch.linspace(0.2, 9.8, 300, dtype=dtype).unsqueeze(1)
y_mean = y.mean()
sq_train = (x - x.T) ** 2
sq_cross = (x - x_new.T) ** 2
eye = torch.eye(n, dtype=dtype)


class ExactGP(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.log_len = torch.nn.Parameter(torch.tensor(0.0, dtype=dtype))
        self.log_amp = torch.nn.Parameter(torch.tensor(0.0, dtype=dtype))
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(3e-3), dtype=dtype))

    def kernel(self, d2):
        return torch.exp(2 * self.log_amp - 0.5 * d2 * torch.exp(-2 * self.log_len))

    def factor(self):
        K = self.kernel(sq_train)
        noise = torch.exp(2 * self.log_noise) + 1e-10
        return torch.linalg.cholesky(K + noise * eye)

    def neg_log_evidence(self):
        L = self.factor()
        r = (y - y_mean).unsqueeze(1)
        z = torch.linalg.solve_triangular(L, r, upper=False)
        return 0.5 * (z ** 2).sum() + L.diagonal().log().sum() + 0.5 * n * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, d2):
        L = self.factor()
        alpha = torch.cholesky_solve((y - y_mean).unsqueeze(1), L)
        kq = self.kernel(d2)
        mean = (kq.T @ alpha).squeeze(1) + y_mean
        v = torch.linalg.solve_triangular(L, kq, upper=False)
        var = torch.exp(2 * self.log_amp) - (v ** 2).sum(0)
        return mean, var.clamp(min=0)


gp = ExactGP()
opt = torch.optim.Adam(gp.parameters(), lr=0.05)
for it in range(300):
    nle = gp.neg_log_evidence()
    opt.zero_grad()
    nle.backward()
    opt.step()
    if it % 50 == 0:
        print(f"iter {it:3d}  -log p(y) {nle.item():10.3f}  length {gp.log_len.exp().item():.4f}"
              f"  amp {gp.log_amp.exp().item():.4f}  noise {gp.log_noise.exp().item():.5f}")

mean, var = gp.predict(sq_cross)
err = mean - truth(x_new).squeeze(1)
inside = (err.abs() < 2 * var.sqrt()).double().mean()
print(f"RMSE {err.pow(2).mean().sqrt().item():.2e}  within 2 sd: {inside.item():.2f}")
"""
