NAME = 'entropic optimal transport between palettes'
FAULT = 'the convergence check multiplies dense diagonal matrices (two N^3 products) in every iteration to get a row sum'
CURE = 'get the marginal as u * (K @ v)'
KIND = 'time'
FAULT_LINES = ['gap = marginal_gap(u, K, v, a)', 'plan = torch.diag(u) @ K @ torch.diag(v)']
FAULT_CALLS = ['@', 'matmul', 'torch.diag', 'marginal_gap']
FAULTY = r'''
import torch

torch.manual_seed(5)
N, PAIRS, ITERS = 700, 6, 60

def palette(seed, n):
    g = torch.Generator().manual_seed(seed)
    centres = torch.rand(6, 3, generator=g)
    pick = torch.randint(0, 6, (n,), generator=g)
    return (centres[pick] + 0.08 * torch.randn(n, 3, generator=g)).clamp(0, 1)

def marginal_gap(u, K, v, a):
    plan = torch.diag(u) @ K @ torch.diag(v)
    return (plan.sum(1) - a).abs().sum().item()

def sinkhorn(x, y, eps=0.05, tol=1e-9):
    cost = torch.cdist(x, y) ** 2
    K = torch.exp(-cost / eps)
    a = torch.full((len(x),), 1 / len(x))
    b = torch.full((len(y),), 1 / len(y))
    u, v = torch.ones_like(a), torch.ones_like(b)
    for it in range(ITERS):
        u = a / (K @ v)
        v = b / (K.T @ u)
        gap = marginal_gap(u, K, v, a)
        if gap < tol:
            break
    plan = u[:, None] * K * v[None, :]
    return (plan * cost).sum().item(), plan, gap

total = 0.0
for p in range(PAIRS):
    src, dst = palette(2 * p, N), palette(2 * p + 1, N)
    w, plan, gap = sinkhorn(src, dst)
    mapped = (plan @ dst) * N
    total += w
    print("pair", p, "cost", round(w, 5), "gap", f"{gap:.1e}", "shift", round((mapped - src).norm(dim=1).mean().item(), 4))
print("sum of costs", round(total, 4))
'''
CURED = r'''
import torch

torch.manual_seed(5)
N, PAIRS, ITERS = 700, 6, 60

def palette(seed, n):
    g = torch.Generator().manual_seed(seed)
    centres = torch.rand(6, 3, generator=g)
    pick = torch.randint(0, 6, (n,), generator=g)
    return (centres[pick] + 0.08 * torch.randn(n, 3, generator=g)).clamp(0, 1)

def marginal_gap(u, K, v, a):
    return (u * (K @ v) - a).abs().sum().item()

def sinkhorn(x, y, eps=0.05, tol=1e-9):
    cost = torch.cdist(x, y) ** 2
    K = torch.exp(-cost / eps)
    a = torch.full((len(x),), 1 / len(x))
    b = torch.full((len(y),), 1 / len(y))
    u, v = torch.ones_like(a), torch.ones_like(b)
    for it in range(ITERS):
        u = a / (K @ v)
        v = b / (K.T @ u)
        gap = marginal_gap(u, K, v, a)
        if gap < tol:
            break
    plan = u[:, None] * K * v[None, :]
    return (plan * cost).sum().item(), plan, gap

total = 0.0
for p in range(PAIRS):
    src, dst = palette(2 * p, N), palette(2 * p + 1, N)
    w, plan, gap = sinkhorn(src, dst)
    mapped = (plan @ dst) * N
    total += w
    print("pair", p, "cost", round(w, 5), "gap", f"{gap:.1e}", "shift", round((mapped - src).norm(dim=1).mean().item(), 4))
print("sum of costs", round(total, 4))
'''
