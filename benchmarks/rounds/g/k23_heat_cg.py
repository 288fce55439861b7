NAME = 'Implicit heat conduction with conjugate gradients'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'A Python loop with two .item() calls per conjugate-gradient iteration looks like a synchronisation fault, but the stopping test is needed and the stencil work takes the time.'
GOOD = r"""import torch
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(73)

N = 448
DT = 30.0


def conductivity(n):
    coarse = torch.randn(1, 1, 14, 14)
    field = F.interpolate(coarse, size=(n, n), mode="bicubic", align_corners=False)[0, 0]
    return torch.exp(0.6 * field)


kappa = conductivity(N)
# harmonic means on the faces, zero at the border (insulated)
kx = F.pad(2 * kappa[:, 1:] * kappa[:, :-1] / (kappa[:, 1:] + kappa[:, :-1]), (1, 1))
ky = F.pad(2 * kappa[1:] * kappa[:-1] / (kappa[1:] + kappa[:-1]), (0, 0, 1, 1))
diag = 1 + DT * (kx[:, 1:] + kx[:, :-1] + ky[1:] + ky[:-1])
inv_diag = 1 / diag
kx_in, ky_in = DT * kx[:, 1:-1], DT * ky[1:-1]


def operator(u, out):
    torch.mul(diag, u, out=out)
    out[:, 1:].addcmul_(kx_in, u[:, :-1], value=-1)
    out[:, :-1].addcmul_(kx_in, u[:, 1:], value=-1)
    out[1:].addcmul_(ky_in, u[:-1], value=-1)
    out[:-1].addcmul_(ky_in, u[1:], value=-1)
    return out


def dot(a, b):
    return torch.dot(a.view(-1), b.view(-1))


def solve(b, x, tol=1e-5, max_iter=600):
    # preconditioned conjugate gradients
    Ap = torch.empty_like(b)
    r = b - operator(x, Ap)
    z = inv_diag * r
    p = z.clone()
    rz = dot(r, z).item()
    stop = tol * b.norm().item()
    for it in range(1, max_iter + 1):
        operator(p, Ap)
        alpha = rz / dot(p, Ap).item()
        x.add_(p, alpha=alpha)
        r.sub_(Ap, alpha=alpha)
        if r.norm().item() < stop:
            break
        torch.mul(inv_diag, r, out=z)
        rz_new = dot(r, z).item()
        p.mul_(rz_new / rz).add_(z)
        rz = rz_new
    return x, it


yy, xx = torch.meshgrid(torch.linspace(0, 1, N), torch.linspace(0, 1, N), indexing="ij")
source = 0.02 * (((xx - 0.3) ** 2 + (yy - 0.6) ** 2) < 0.01).float()
u = 20 + 5 * torch.exp(-((xx - 0.7) ** 2 + (yy - 0.3) ** 2) / 0.02)

total_iters = 0
with torch.no_grad():
    for step in range(1, 101):
        rhs = u + DT * source
        u, iters = solve(rhs, u.clone())
        total_iters += iters
        if step % 20 == 0:
            print(f"step {step:2d}: {iters:3d} CG iterations, mean {u.mean().item():.4f}, max {u.max().item():.4f}")

expected = 20 + (5 * torch.exp(-((xx - 0.7) ** 2 + (yy - 0.3) ** 2) / 0.02)).mean() + 100 * DT * source.mean()
print(f"total iterations {total_iters}; heat balance error {abs(u.mean().item() - expected.item()):.2e}")
"""
