NAME = "A softplus MLP learns the signed distance of a torus from the vertices and normals of its mesh with an eikonal penalty."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "Every training step differentiates the network with create_graph=True and then runs backward again, and new random points are drawn each step; the eikonal and normal terms are losses on the gradient itself, so the second derivative is needed (the final check of the gradients goes without create_graph)."
GOOD = r'''
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(23)

R, r = 0.6, 0.25


def torus_mesh(n_u=96, n_v=48):
    u, v = torch.meshgrid(torch.arange(n_u) * (2 * math.pi / n_u),
                          torch.arange(n_v) * (2 * math.pi / n_v), indexing="ij")
    vert = torch.stack([(R + r * v.cos()) * u.cos(), (R + r * v.cos()) * u.sin(), r * v.sin()], -1).view(-1, 3)
    i, j = torch.meshgrid(torch.arange(n_u), torch.arange(n_v), indexing="ij")
    idx = lambda a, b: ((a % n_u) * n_v + b % n_v).reshape(-1)
    quad = torch.stack([idx(i, j), idx(i + 1, j), idx(i + 1, j + 1), idx(i, j + 1)], 1)
    return vert, torch.cat([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])


def vertex_normals(vert, faces):
    a, b, c = vert[faces].unbind(1)
    fn = torch.linalg.cross(b - a, c - a)
    n = torch.zeros_like(vert)
    for k in range(3):
        n.index_add_(0, faces[:, k], fn)
    return F.normalize(n, dim=1)


def true_sdf(p):
    ring = p[:, :2].norm(dim=1) - R
    return torch.sqrt(ring ** 2 + p[:, 2] ** 2) - r


class SDFNet(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.l1 = nn.Linear(3, width)
        self.l2 = nn.Linear(width, width)
        self.l3 = nn.Linear(width + 3, width)
        self.l4 = nn.Linear(width, 1)
        self.act = nn.Softplus(beta=50)
        nn.init.constant_(self.l4.bias, -0.3)

    def forward(self, p):
        h = self.act(self.l1(p))
        h = self.act(self.l2(h))
        h = self.act(self.l3(torch.cat([h, p], dim=1)))
        return self.l4(h).squeeze(1)


vert, faces = torus_mesh()
normals = vertex_normals(vert, faces)
print("mesh", len(vert), "vertices", len(faces), "faces")

net = SDFNet()
opt = torch.optim.Adam(net.parameters(), lr=1.5e-3)
STEPS, B = 500, 512
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)

for step in range(1, STEPS + 1):
    pick = torch.randint(0, len(vert), (B,))
    surf, nrm = vert[pick], normals[pick]
    free = torch.rand(B, 3) * 2.4 - 1.2
    pts = torch.cat([surf, free]).requires_grad_(True)
    d = net(pts)
    g, = torch.autograd.grad(d.sum(), pts, create_graph=True)
    on_surface = d[:B].abs().mean()
    align = (1 - F.cosine_similarity(g[:B], nrm, dim=1)).mean()
    eikonal = (g.norm(dim=1) - 1).pow(2).mean()
    away = torch.exp(-60 * d[B:].abs()).mean()
    loss = 3 * on_surface + 0.3 * align + 0.1 * eikonal + 0.02 * away
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    if step % 125 == 0:
        print(f"step {step}: surface {on_surface.item():.4f} normals {align.item():.4f} eikonal {eikonal.item():.4f}")

probe = (torch.rand(4000, 3) * 2.0 - 1.0)
probe.requires_grad_(True)
d = net(probe)
g, = torch.autograd.grad(d.sum(), probe)
with torch.no_grad():
    ref = true_sdf(probe)
    print(f"SDF mean error {(d - ref).abs().mean().item():.4f}")
    print(f"inside/outside agreement {((d < 0) == (ref < 0)).float().mean().item():.4f}")
    print(f"gradient norm {g.norm(dim=1).mean().item():.3f}")
'''
