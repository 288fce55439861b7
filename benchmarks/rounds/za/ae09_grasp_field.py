NAME = "Fits a neural distance field to a grasped object from surface points with an eikonal term and scores antipodal finger placements."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "create_graph=True and requires_grad_ on the input points look like needless autograd work (and the gradient taken twice), but the loss itself contains the field's gradient, so its graph has to be kept; the grasp scoring also needs gradients with respect to the points, not to weights."
GOOD = r'''
import math
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(13)
rng = torch.Generator().manual_seed(13)


def mug_surface(n):
    """Points and outward normals on a capsule with a ripple: a handle-free mug."""
    u = torch.rand(n, generator=rng) * 2 * math.pi
    v = torch.rand(n, generator=rng) * 2 - 1
    r = 0.45 + 0.04 * torch.sin(3 * u)
    xyz = torch.stack([r * torch.cos(u), r * torch.sin(u), 0.6 * v], dim=1)
    dr = 0.12 * torch.cos(3 * u)
    tangent = torch.stack([dr * torch.cos(u) - r * torch.sin(u),
                           dr * torch.sin(u) + r * torch.cos(u), torch.zeros(n)], dim=1)
    normal = torch.stack([tangent[:, 1], -tangent[:, 0], torch.zeros(n)], dim=1)
    return xyz, nn.functional.normalize(normal, dim=1)


class DistanceField(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(3, width), nn.Softplus(beta=50),
            nn.Linear(width, width), nn.Softplus(beta=50),
            nn.Linear(width, width), nn.Softplus(beta=50),
            nn.Linear(width, 1),
        )
        with torch.no_grad():                       # start near a sphere
            last = self.net[-1]
            last.weight.normal_(math.sqrt(math.pi) / math.sqrt(width), 1e-4)
            last.bias.fill_(-0.5)

    def forward(self, p):
        return self.net(p).squeeze(-1)


def field_and_slope(field, points):
    points = points.clone().requires_grad_(True)
    d = field(points)
    slope, = torch.autograd.grad(d.sum(), points, create_graph=True)
    return d, slope


surface, normals = mug_surface(20_000)
field = DistanceField()
opt = torch.optim.Adam(field.parameters(), lr=1e-3)
n_surf = 768

for it in range(320):
    pick = torch.randint(0, len(surface), (n_surf,), generator=rng)
    space = torch.rand(n_surf, 3, generator=rng) * 2 - 1
    d, slope = field_and_slope(field, torch.cat([surface[pick], space]))
    on_surface = d[:n_surf].abs().mean()
    facing = (1 - nn.functional.cosine_similarity(slope[:n_surf], normals[pick])).mean()
    eikonal = (slope.norm(dim=1) - 1).square().mean()
    off = torch.exp(-50 * d[n_surf:].abs()).mean()
    loss = 3 * on_surface + 0.3 * facing + 0.3 * eikonal + 0.1 * off
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 80 == 79:
        print(f"it {it + 1:4d} loss {loss.item():.4f} surface {on_surface.item():.4f} eikonal {eikonal.item():.4f}")


def settle(field, p, steps=5):
    """Walk finger tips to the surface along the slope and return the contact normals."""
    for _ in range(steps):
        p = p.detach().requires_grad_(True)
        d = field(p)
        g, = torch.autograd.grad(d.sum(), p)
        p = p - d.detach()[:, None] * nn.functional.normalize(g, dim=1)
    return p.detach(), nn.functional.normalize(g, dim=1)


field.requires_grad_(False)
angle = torch.rand(2000, generator=rng) * math.pi
axis = torch.stack([torch.cos(angle), torch.sin(angle), torch.zeros(2000)], dim=1)
height = torch.zeros(2000, 3)
height[:, 2] = torch.rand(2000, generator=rng) - 0.5
left, n_left = settle(field, height + 0.8 * axis)
right, n_right = settle(field, height - 0.8 * axis)
line = nn.functional.normalize(right - left, dim=1)
quality = torch.minimum(-(n_left * line).sum(1), (n_right * line).sum(1))
best = quality.argmax()
print(f"grasps inside the friction cone: {(quality > 0.94).float().mean().item():.3f}")
print(f"best grasp: width {(right - left)[best].norm().item():.3f}, quality {quality[best].item():.4f}")
'''
