NAME = 'e10_factor_risk'

FAULT = 'The SVD of each tall window of returns is taken with full matrices, so a T x T orthogonal basis is built and thrown away.'

CURE = 'Pass full_matrices=False.'

KIND = 'time'

FAULT_LINES = [
    '    U, S, Vh = torch.linalg.svd(window - window.mean(0))',
]

FAULT_CALLS = [
    'torch.linalg.svd',
    'aten::linalg_svd',
    'aten::_linalg_svd',
    'factor_model',
]

FAULTY = r'''
# Rolling statistical factor model + minimum-variance weights, weekly rebalancing
import torch

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(99)

N_ASSETS, N_DAYS, LOOKBACK, STEP, K = 60, 2300, 750, 5, 4

# --- simulate returns with slowly drifting loadings ---
load0 = torch.randn(N_ASSETS, K, generator=gen) * torch.tensor([1.2, 0.6, 0.4, 0.3])
load1 = load0 + 0.3 * torch.randn(N_ASSETS, K, generator=gen)
mix = torch.linspace(0, 1, N_DAYS)[:, None, None]
loads = (1 - mix) * load0 + mix * load1
factors = 0.01 * torch.randn(N_DAYS, K, generator=gen)
idio = 0.008 * torch.randn(N_DAYS, N_ASSETS, generator=gen)
returns = (torch.einsum("tnk,tk->tn", loads, factors) + idio).double()


def factor_model(window, k=K):
    """Loadings scaled by factor volatility, and the specific variances."""
    T = len(window)
    U, S, Vh = torch.linalg.svd(window - window.mean(0))
    B = Vh[:k].T * (S[:k] / (T - 1) ** 0.5)
    explained = (S[:k] ** 2).sum() / (S ** 2).sum()
    resid = window.var(0) - (B ** 2).sum(1)
    return B, resid.clamp_min(1e-8), explained


def min_variance(B, spec):
    """Woodbury: (B B' + D)^-1 1, normalised."""
    inv = 1.0 / spec
    core = torch.linalg.inv(torch.eye(B.shape[1], dtype=B.dtype) + B.T @ (inv[:, None] * B))
    ones = torch.ones_like(spec)
    w = inv * ones - inv * (B @ (core @ (B.T @ (inv * ones))))
    return w / w.sum()


pnl, bench, turnover, expl = [], [], [], []
prev = torch.full((N_ASSETS,), 1.0 / N_ASSETS, dtype=torch.double)
for start in range(0, N_DAYS - LOOKBACK - STEP, STEP):
    window = returns[start:start + LOOKBACK]
    B, spec, e = factor_model(window)
    w = min_variance(B, spec)
    nxt = returns[start + LOOKBACK:start + LOOKBACK + STEP]
    pnl.append(nxt @ w)
    bench.append(nxt.mean(1))
    turnover.append((w - prev).abs().sum())
    expl.append(e)
    prev = w

pnl, bench = torch.cat(pnl), torch.cat(bench)
print(f"rebalancings          {len(turnover)}")
print(f"explained by {K}        {torch.stack(expl).mean():.4f}")
print(f"volatility min-var    {pnl.std() * 252 ** 0.5:.4%}")
print(f"volatility equal      {bench.std() * 252 ** 0.5:.4%}")
print(f"mean turnover         {torch.stack(turnover).mean():.4f}")
'''

CURED = r'''
# Rolling statistical factor model + minimum-variance weights, weekly rebalancing
import torch

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(99)

N_ASSETS, N_DAYS, LOOKBACK, STEP, K = 60, 2300, 750, 5, 4

# --- simulate returns with slowly drifting loadings ---
load0 = torch.randn(N_ASSETS, K, generator=gen) * torch.tensor([1.2, 0.6, 0.4, 0.3])
load1 = load0 + 0.3 * torch.randn(N_ASSETS, K, generator=gen)
mix = torch.linspace(0, 1, N_DAYS)[:, None, None]
loads = (1 - mix) * load0 + mix * load1
factors = 0.01 * torch.randn(N_DAYS, K, generator=gen)
idio = 0.008 * torch.randn(N_DAYS, N_ASSETS, generator=gen)
returns = (torch.einsum("tnk,tk->tn", loads, factors) + idio).double()


def factor_model(window, k=K):
    """Loadings scaled by factor volatility, and the specific variances."""
    T = len(window)
    U, S, Vh = torch.linalg.svd(window - window.mean(0), full_matrices=False)
    B = Vh[:k].T * (S[:k] / (T - 1) ** 0.5)
    explained = (S[:k] ** 2).sum() / (S ** 2).sum()
    resid = window.var(0) - (B ** 2).sum(1)
    return B, resid.clamp_min(1e-8), explained


def min_variance(B, spec):
    """Woodbury: (B B' + D)^-1 1, normalised."""
    inv = 1.0 / spec
    core = torch.linalg.inv(torch.eye(B.shape[1], dtype=B.dtype) + B.T @ (inv[:, None] * B))
    ones = torch.ones_like(spec)
    w = inv * ones - inv * (B @ (core @ (B.T @ (inv * ones))))
    return w / w.sum()


pnl, bench, turnover, expl = [], [], [], []
prev = torch.full((N_ASSETS,), 1.0 / N_ASSETS, dtype=torch.double)
for start in range(0, N_DAYS - LOOKBACK - STEP, STEP):
    window = returns[start:start + LOOKBACK]
    B, spec, e = factor_model(window)
    w = min_variance(B, spec)
    nxt = returns[start + LOOKBACK:start + LOOKBACK + STEP]
    pnl.append(nxt @ w)
    bench.append(nxt.mean(1))
    turnover.append((w - prev).abs().sum())
    expl.append(e)
    prev = w

pnl, bench = torch.cat(pnl), torch.cat(bench)
print(f"rebalancings          {len(turnover)}")
print(f"explained by {K}        {torch.stack(expl).mean():.4f}")
print(f"volatility min-var    {pnl.std() * 252 ** 0.5:.4%}")
print(f"volatility equal      {bench.std() * 252 ** 0.5:.4%}")
print(f"mean turnover         {torch.stack(turnover).mean():.4f}")
'''
