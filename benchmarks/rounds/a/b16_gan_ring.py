NAME = 'two-dimensional GAN on a ring of Gaussians with progress pictures'
FAULT = 'a matplotlib figure is drawn and rendered to PNG every ten steps though only the last picture is used'
CURE = 'draw the picture once after training'
KIND = 'time'
FAULT_LINES = ['frame = snapshot(fake, step)', 'fig.savefig(buf, format="png")', 'fig, ax = plt.subplots(figsize=(5, 5), dpi=100)', 'ax.scatter(pts[:, 0], pts[:, 1], s=4, alpha=0.4)']
FAULT_CALLS = ['Figure.savefig', 'savefig', 'snapshot', 'plt.subplots', 'Axes.scatter']
FAULTY = '''
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)


def real_batch(n):
    a = torch.randint(0, 8, (n,)) * (2 * torch.pi / 8)
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)


def snapshot(pts, step):
    fig, ax = plt.subplots(figsize=(5, 5), dpi=100)
    ax.scatter(pts[:, 0], pts[:, 1], s=4, alpha=0.4)
    ax.set_xlim(-3, 3); ax.set_ylim(-3, 3)
    ax.set_title(f"step {step}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png")
    plt.close(fig)
    return buf.getvalue()


G = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
Dn = nn.Sequential(nn.Linear(2, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
od = torch.optim.Adam(Dn.parameters(), lr=1e-3, betas=(0.5, 0.9))

fixed = torch.randn(1000, 16)
for step in range(500):
    x = real_batch(256)
    with torch.no_grad():
        xf = G(torch.randn(256, 16))
    d_loss = F.softplus(-Dn(x)).mean() + F.softplus(Dn(xf)).mean()
    od.zero_grad(); d_loss.backward(); od.step()

    g_loss = F.softplus(-Dn(G(torch.randn(256, 16)))).mean()
    og.zero_grad(); g_loss.backward(); og.step()

    if step % 10 == 9:
        with torch.no_grad():
            fake = G(fixed)
        frame = snapshot(fake, step)

radius = fake.norm(dim=1)
print(f"d {d_loss.item():.3f} g {g_loss.item():.3f}  radius {radius.mean().item():.3f}, picture {len(frame) // 1024} KiB")
'''
CURED = '''
import io
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)


def real_batch(n):
    a = torch.randint(0, 8, (n,)) * (2 * torch.pi / 8)
    return torch.stack([a.cos(), a.sin()], 1) * 2 + 0.05 * torch.randn(n, 2)


def snapshot(pts, step):
    fig, ax = plt.subplots(figsize=(5, 5), dpi=100)
    ax.scatter(pts[:, 0], pts[:, 1], s=4, alpha=0.4)
    ax.set_xlim(-3, 3); ax.set_ylim(-3, 3)
    ax.set_title(f"step {step}")
    buf = io.BytesIO()
    fig.savefig(buf, format="png")
    plt.close(fig)
    return buf.getvalue()


G = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
Dn = nn.Sequential(nn.Linear(2, 256), nn.LeakyReLU(0.2), nn.Linear(256, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
od = torch.optim.Adam(Dn.parameters(), lr=1e-3, betas=(0.5, 0.9))

fixed = torch.randn(1000, 16)
for step in range(500):
    x = real_batch(256)
    with torch.no_grad():
        xf = G(torch.randn(256, 16))
    d_loss = F.softplus(-Dn(x)).mean() + F.softplus(Dn(xf)).mean()
    od.zero_grad(); d_loss.backward(); od.step()

    g_loss = F.softplus(-Dn(G(torch.randn(256, 16)))).mean()
    og.zero_grad(); g_loss.backward(); og.step()

with torch.no_grad():
    fake = G(fixed)
frame = snapshot(fake, step)

radius = fake.norm(dim=1)
print(f"d {d_loss.item():.3f} g {g_loss.item():.3f}  radius {radius.mean().item():.3f}, picture {len(frame) // 1024} KiB")
'''
