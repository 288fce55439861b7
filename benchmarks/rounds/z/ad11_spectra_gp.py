NAME = "Fits a Gaussian process that predicts a concentration from infrared spectra, with hyperparameters learnt by maximising the marginal likelihood."
FAULT = None
CURE = None
KIND = None
LOOKS = "A new Cholesky factorisation of the full kernel matrix in double precision in every optimiser step: the kernel changes with the hyperparameters each step, so the factor cannot be kept, and in float32 the nearly noise-free kernel is not positive definite."
FAULT_LINES = []
FAULT_CALLS = []
GOOD = r'''
import math
import numpy as np
import torch
from sklearn.decomposition import PCA

torch.set_num_threads(1)
torch.manual_seed(6)
rng = np.random.default_rng(6)

N, TRAIN, CHANNELS = 1900, 1500, 400
wavenumber = np.linspace(900, 1800, CHANNELS)


def measure(n):
    """Mixture of four species with a concentration-dependent band shift and a baseline."""
    conc = rng.dirichlet(np.ones(4), n)
    centres, widths = [1040, 1230, 1460, 1650], [25, 40, 30, 20]
    spectra = np.zeros((n, CHANNELS))
    for j in range(4):
        shift = 12 * conc[:, [0]] * conc[:, [j]]
        spectra += conc[:, [j]] * np.exp(-0.5 * ((wavenumber - centres[j] - shift) / widths[j]) ** 2)
    spectra += rng.normal(0, 0.02, (n, 1)) * (wavenumber - 1350) / 450
    spectra += rng.normal(0, 1e-4, spectra.shape)
    target = conc[:, 1] + 0.4 * np.sin(3 * conc[:, 0] * conc[:, 2])
    return spectra, target + rng.normal(0, 1e-4, n)


spectra, target = measure(N)
pca = PCA(n_components=6).fit(spectra[:TRAIN])
scores = pca.transform(spectra)
scores /= scores[:TRAIN].std(0)
x = torch.from_numpy(scores)
y = torch.from_numpy((target - target[:TRAIN].mean()) / target[:TRAIN].std())
x_train, y_train, x_test, y_test = x[:TRAIN], y[:TRAIN], x[TRAIN:], y[TRAIN:]

log_scales = torch.full((x.shape[1],), math.log(2.0), dtype=torch.float64, requires_grad=True)
log_amp = torch.zeros((), dtype=torch.float64, requires_grad=True)
log_noise = torch.tensor(-13.0, dtype=torch.float64, requires_grad=True)


def kernel(a, b):
    a, b = a / log_scales.exp(), b / log_scales.exp()
    log_k = a @ b.T - 0.5 * (a * a).sum(1)[:, None] - 0.5 * (b * b).sum(1)
    return log_amp.exp() * torch.exp(log_k)


def noisy_kernel():
    k = kernel(x_train, x_train)
    k.diagonal().add_(log_noise.exp())
    return k


def likelihood_step():
    """Negative log marginal likelihood; d/dK = (K^-1 - a a^T) / 2 is passed on to the hyperparameters."""
    k = noisy_kernel()
    with torch.no_grad():
        chol = torch.linalg.cholesky(k)
        inverse = torch.cholesky_inverse(chol)
        alpha = inverse @ y_train
        value = 0.5 * (y_train @ alpha + TRAIN * math.log(2 * math.pi)) + chol.diagonal().log().sum()
        inverse.addr_(alpha, alpha, alpha=-1)
    k.backward(0.5 * inverse)
    return value.item()


optimizer = torch.optim.Adam([log_scales, log_amp, log_noise], lr=0.1)
for step in range(30):
    optimizer.zero_grad()
    nll = likelihood_step()
    optimizer.step()
    if step % 6 == 5:
        print(f"step {step + 1}: nll {nll:.1f}, noise {log_noise.exp().item():.2e}")

with torch.no_grad():
    chol = torch.linalg.cholesky(noisy_kernel())
    cross = kernel(x_test, x_train)
    weights = torch.cholesky_solve(y_train[:, None], chol)
    mean = (cross @ weights).squeeze(-1)
    half = torch.linalg.solve_triangular(chol, cross.T, upper=False)
    var = log_amp.exp() - half.square().sum(0) + log_noise.exp()
rmse = (mean - y_test).square().mean().sqrt().item()
inside = ((mean - y_test).abs() < 1.96 * var.sqrt()).double().mean().item()
print(f"test rmse {rmse:.4f} (target sd 1), 95% interval covers {inside:.3f}")
print("length scales", [round(v, 2) for v in log_scales.exp().tolist()])
'''
