NAME = "Calibrates an electronic nose: an exact Gaussian process maps chemical-sensor responses to gas concentration."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = ("Everything is float64 and the covariance is factorised anew in every iteration; the sensors are so smooth and precise that the matrix is too "
         "ill-conditioned for float32 (Cholesky fails), and the hyperparameters change in every iteration.")
GOOD = r'''import math
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
rng = np.random.default_rng(1)

# ---- metal-oxide sensors: power-law response, cross-talk, humidity and temperature ----
N_TRAIN, N_TEST, SENSORS = 900, 400, 8
n = N_TRAIN + N_TEST
conc = rng.uniform(0.5, 10, n)
interferent = rng.uniform(0, 4, n)
humidity = rng.uniform(0.2, 0.8, n)
temp = rng.uniform(18, 30, n)
a, b, beta = rng.uniform(.5, 1.5, SENSORS), rng.uniform(.1, .6, SENSORS), rng.uniform(.3, .7, SENSORS)
load = 1 + conc[:, None] * a + interferent[:, None] * b
resp = np.log(load) * beta + rng.uniform(-.3, .3, SENSORS) * humidity[:, None]
resp += 0.01 * rng.normal(1, .2, SENSORS) * (temp[:, None] - 24)
resp += rng.normal(0, 2e-5, resp.shape)
feats = np.column_stack([resp, humidity, temp])
feats = (feats - feats[:N_TRAIN].mean(0)) / feats[:N_TRAIN].std(0)
X, Xt = torch.from_numpy(feats[:N_TRAIN]), torch.from_numpy(feats[N_TRAIN:])
y_mean, y_std = conc[:N_TRAIN].mean(), conc[:N_TRAIN].std()
y = torch.from_numpy((conc[:N_TRAIN] - y_mean) / y_std)
yt = torch.from_numpy(conc[N_TRAIN:])


class ExactGP(torch.nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.log_len = torch.nn.Parameter(torch.full((dims,), math.log(3.0)))
        self.log_amp = torch.nn.Parameter(torch.tensor(1.0))
        self.log_noise = torch.nn.Parameter(torch.tensor(math.log(1e-3)))

    def kernel(self, A, B):
        A, B = A / self.log_len.exp(), B / self.log_len.exp()
        half_sq = A @ B.T - 0.5 * A.square().sum(1)[:, None] - 0.5 * B.square().sum(1)
        return torch.exp(half_sq) * torch.exp(2 * self.log_amp)

    def factor(self, X):
        K = self.kernel(X, X)
        K.diagonal().add_(self.log_noise.exp() ** 2 + 1e-8)
        return torch.linalg.cholesky(K)

    def nll(self, X, y):
        L = self.factor(X)
        w = torch.linalg.solve_triangular(L, y[:, None], upper=False)
        return 0.5 * w.square().sum() + L.diagonal().log().sum() + 0.5 * len(y) * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, X, y, Xs):
        L = self.factor(X)
        Ks = self.kernel(X, Xs)
        mean = Ks.T @ torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        var = torch.exp(2 * self.log_amp) - v.square().sum(0)
        return mean[:, 0], (var.clamp_min(0) + self.log_noise.exp() ** 2).sqrt()


gp = ExactGP(X.shape[1])
opt = torch.optim.Adam(gp.parameters(), lr=0.06)
for it in range(1, 91):
    opt.zero_grad()
    loss = gp.nll(X, y)
    loss.backward()
    opt.step()
    if it % 30 == 0:
        print(f"iteration {it:3d}  nll/n {loss.item() / N_TRAIN:.3f}  noise {gp.log_noise.exp().item():.1e}")

mean, std = gp.predict(X, y, Xt)
mean, std = mean * y_std + y_mean, std * y_std
rmse = (mean - yt).square().mean().sqrt().item()
cover = ((mean - yt).abs() < 1.96 * std).double().mean().item()
print(f"test RMSE {rmse:.4f} ppm, 95% interval covers {cover:.2f}, linear fit RMSE "
      f"{np.std(yt.numpy() - np.c_[np.ones(N_TEST), Xt] @ np.linalg.lstsq(np.c_[np.ones(N_TRAIN), X], conc[:N_TRAIN], rcond=None)[0]):.4f} ppm")
order = torch.argsort(gp.log_len)[:3].tolist()
print("shortest length scales at features", order)
'''
