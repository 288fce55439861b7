NAME = "Fits a Gaussian process with one length scale per input to glacier surface mass balance and predicts it at unmeasured sites."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(2)
rng = np.random.default_rng(2)
torch.set_default_dtype(torch.float64)

N, N_TEST, NAMES = 1100, 300, ["elevation", "slope", "aspect", "debris"]


def balance(x):
    """metres water equivalent per year, smooth in all inputs"""
    elev, slope, aspect, debris = x.T
    return (2.2 * np.tanh(1.6 * elev) - 0.5 * slope ** 2
            + 0.4 * np.cos(1.5 * aspect) * (1 - elev ** 2) - 0.7 * np.exp(-debris ** 2))


def survey(n):
    x = rng.uniform(-1, 1, (n, 4))
    return torch.from_numpy(x), torch.from_numpy(balance(x) + rng.normal(0, 1e-3, n))


class GlacierGP:
    def __init__(self, n_dims):
        self.log_ls = torch.zeros(n_dims, requires_grad=True)
        self.log_var = torch.tensor(1.0, requires_grad=True)
        self.log_noise = torch.tensor(-6.0, requires_grad=True)
        self.params = [self.log_ls, self.log_var, self.log_noise]

    def kernel(self, a, b):
        a, b = a * torch.exp(-self.log_ls), b * torch.exp(-self.log_ls)
        sq_a, sq_b = -0.5 * (a * a).sum(1, keepdim=True), -0.5 * (b * b).sum(1)
        return torch.exp(torch.addmm(sq_a + (sq_b + self.log_var), a, b.T))

    def factor(self, K, noise):
        A = K.detach().clone()
        A.diagonal().add_(noise)
        return torch.linalg.cholesky(A)

    def step(self, x, y, opt):
        K, noise = self.kernel(x, x), torch.exp(2 * self.log_noise)
        with torch.no_grad():
            L = self.factor(K, noise)
            K_inv = torch.cholesky_inverse(L)
            alpha = K_inv @ y
            nll = 0.5 * (y @ alpha) + L.diagonal().log().sum() + 0.5 * len(y) * np.log(2 * np.pi)
            # d nll / dK = (K^-1 - alpha alpha^T) / 2
            dK = K_inv.addr_(alpha, alpha, alpha=-1.0).mul_(0.5)
        opt.zero_grad()
        torch.autograd.backward([K, noise], [dK, dK.trace()])
        opt.step()
        return nll.item()

    @torch.no_grad()
    def predict(self, x, y, new):
        L = self.factor(self.kernel(x, x), torch.exp(2 * self.log_noise))
        ks = self.kernel(new, x)
        mean = ks @ torch.cholesky_solve(y[:, None], L)
        v = torch.linalg.solve_triangular(L, ks.T, upper=False)
        return mean[:, 0], (torch.exp(self.log_var) - v.pow(2).sum(0)).clamp(min=0).sqrt()


x, y = survey(N)
x_new, y_new = survey(N_TEST)
offset = y.mean()
gp = GlacierGP(4)
opt = torch.optim.Adam(gp.params, lr=0.08)
best, stale = float("inf"), 0
for it in range(90):
    nll = gp.step(x, y - offset, opt)
    if nll < best - 0.1:
        best, stale = nll, 0
    else:
        stale += 1
    if it % 20 == 0:
        print(f"iter {it:3d}  nll {nll:9.1f}")
    if stale > 10:
        break

mean, sd = gp.predict(x, y - offset, x_new)
err = mean + offset - y_new
print("test rmse %.4f m w.e." % err.pow(2).mean().sqrt().item())
print("share within two sd: %.2f" % (err.abs() < 2 * (sd ** 2 + torch.exp(2 * gp.log_noise)).sqrt()).double().mean().item())
for name, ls in zip(NAMES, torch.exp(gp.log_ls).tolist()):
    print(f"  length scale {name:9s} {ls:.2f}")
'''
LOOKS = "float64 throughout, an explicit inverse and a kernel rebuilt at every step look wasteful; the covariance is too ill-conditioned for float32 (Cholesky fails), the trace term of the gradient needs the inverse (and this is cheaper than autograd through the Cholesky factor), and the kernel changes with the length scales."
