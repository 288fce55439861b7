NAME = 'Choice of length scale and ridge by generalised cross-validation for kernel regression'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = "float64 and a full eigendecomposition for each length scale look wasteful, but the Gaussian kernel's spectrum spans more than 7 decimal digits so float32 gives scores up to 3 times too high at the longer length scales, and one decomposition already serves all 60 ridges"
GOOD = r"""
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)

# spectra of wheat samples -> protein content (simulated)
n, n_test, d = 1200, 400, 24
latent = rng.normal(size=(n + n_test, 4))
mixing = rng.normal(size=(4, d))
S = latent @ mixing + 0.05 * rng.normal(size=(n + n_test, d))
protein = 11 + np.sin(latent[:, 0]) + 0.5 * latent[:, 1] * latent[:, 2] + 0.3 * latent[:, 3] ** 2
protein = protein + 0.02 * rng.normal(size=n + n_test)

X = torch.tensor(S, dtype=torch.float64)
y = torch.tensor(protein, dtype=torch.float64)
X = (X - X[:n].mean(0)) / X[:n].std(0)
Xtr, Xte, ytr, yte = X[:n], X[n:], y[:n], y[n:]
y_mean = ytr.mean()
yc = ytr - y_mean

D2 = torch.cdist(Xtr, Xtr).pow(2)
D2_test = torch.cdist(Xte, Xtr).pow(2)
ridges = torch.logspace(-11, 0, 60, dtype=torch.float64)


def gcv_path(K, target, ridges):
    # one decomposition, all ridges: GCV = n |(I - H) y|^2 / tr(I - H)^2
    lam, Q = torch.linalg.eigh(K)
    lam = lam.clamp_min(0)
    z = Q.T @ target
    shrink = ridges[:, None] * len(target) / (lam[None, :] + ridges[:, None] * len(target))
    resid = (shrink * z).pow(2).sum(1)
    dof = shrink.sum(1)
    return len(target) * resid / dof.pow(2), lam, Q, z


records = []
best = (float("inf"), None)
for ls in np.geomspace(12.0, 60.0, 12):
    K = torch.exp(-0.5 * D2 / ls ** 2)
    score, lam, Q, z = gcv_path(K, yc, ridges)
    j = int(score.argmin())
    r = ridges[j].item()
    coef = Q @ (z / (lam + r * n))
    records.append((ls, r, score[j].item()))
    span = (lam[-1] / lam[lam > 0][0]).log10().item()
    print(f"ls {ls:6.2f}  ridge {r:.2e}  GCV {score[j].item():.6f}  spectrum spans 10^{span:.0f}")
    if score[j].item() < best[0]:
        best = (score[j].item(), (ls, r, coef))

ls, r, coef = best[1]
pred = torch.exp(-0.5 * D2_test / ls ** 2) @ coef + y_mean
rmse = (pred - yte).pow(2).mean().sqrt().item()
print(f"chosen ls {ls:.2f}, ridge {r:.2e}: test RMSE {rmse:.4f} (noise 0.02, sd {yte.std().item():.3f})")
"""
