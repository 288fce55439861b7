NAME = 'Lattice Boltzmann flow around a cylinder'
FAULT = None
CURE = None
KIND = None
LOOKS_LIKE = 'A long Python loop over time steps with indexing and an .item() in each step looks like loop and sync overhead, but every step needs the one before and the array work takes all the time.'
GOOD = r"""import math
import torch

torch.set_num_threads(1)
torch.manual_seed(5)

ny, nx = 120, 320
u_in, reynolds, radius = 0.08, 120, 14
nu = u_in * 2 * radius / reynolds
omega = 1.0 / (3 * nu + 0.5)

c = torch.tensor([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
w = torch.tensor([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4).view(9, 1, 1)
opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
cx, cy = c[:, 0].float().view(9, 1, 1), c[:, 1].float().view(9, 1, 1)

yy, xx = torch.meshgrid(torch.arange(ny), torch.arange(nx), indexing="ij")
solid = (xx - nx // 5) ** 2 + (yy - ny // 2 - 1) ** 2 < radius ** 2
iy, ix = torch.nonzero(solid, as_tuple=True)
lin = torch.arange(ny * nx).view(ny, nx)
source = torch.stack([torch.roll(lin, (b, a), dims=(0, 1)).flatten() for a, b in c.tolist()])


def equilibrium(rho, ux, uy, out, cu):
    torch.mul(cx, ux, out=cu).addcmul_(cy, uy)
    usq = ux * ux + uy * uy
    torch.mul(cu, cu, out=out).mul_(4.5).add_(cu, alpha=3.0)
    return out.sub_(usq, alpha=1.5).add_(1.0).mul_(w).mul_(rho)


def macroscopic(f):
    rho = f.sum(0)
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / rho
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / rho
    return rho, ux, uy


def stream(f, out):
    torch.gather(f.view(9, -1), 1, source, out=out.view(9, -1))
    return out


profile = u_in * (1 + 1e-3 * torch.sin(2 * math.pi * torch.arange(ny) / ny)).view(ny, 1)
f, other, feq, work = (torch.empty(9, ny, nx) for _ in range(4))
equilibrium(torch.ones(ny, nx), profile.expand(ny, nx), torch.zeros(ny, nx), f, work)
f_in = f[:, :, :1].clone()

probe = []
with torch.no_grad():
    for step in range(4000):
        f[[3, 6, 7], :, -1] = f[[3, 6, 7], :, -2]
        rho, ux, uy = macroscopic(f)
        bounced = f[:, iy, ix][opposite]
        f.lerp_(equilibrium(rho, ux, uy, feq, work), omega)
        probe.append(uy[ny // 2, nx // 2].item())
        f[:, iy, ix] = bounced
        f, other = stream(f, other), f
        f[[1, 5, 8], :, 0] = f_in[[1, 5, 8], :, 0]
        if step % 800 == 799:
            vort = uy[1:-1, 2:] - uy[1:-1, :-2] - ux[2:, 1:-1] + ux[:-2, 1:-1]
            print(f"step {step + 1:5d}  max speed {ux.abs().max().item():.4f}  |vorticity| {vort.abs().mean().item():.5f}")

wake = torch.tensor(probe)
print("wake speed: mean %.6f  std %.6f  max %.6f" % (wake.mean().item(), wake.std().item(), wake.abs().max().item()))
print("mass", round(f.sum().item() / (ny * nx), 4))
"""
