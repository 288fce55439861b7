NAME = 'd21_gradient_penalty'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import torch
import torch.nn as nn

torch.manual_seed(0)


def mixture(b):
    k = torch.randint(0, 8, (b,))
    ang = k * (2 * torch.pi / 8)
    c = torch.stack([ang.cos(), ang.sin()], 1) * 2
    return (c.repeat(1, 32) + 0.05 * torch.randn(b, 64))


gen = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))
critic = nn.Sequential(nn.Linear(64, 512), nn.Softplus(), nn.Linear(512, 512), nn.Softplus(), nn.Linear(512, 1))
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.9))


def penalty(real, fake):
    e = torch.rand(len(real), 1)
    mid = (e * real + (1 - e) * fake).requires_grad_(True)
    score = critic(mid)
    (g,) = torch.autograd.grad(score.sum(), mid, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


B = 256
log = []
for it in range(30):
    for _ in range(5):
        real = mixture(B)
        with torch.no_grad():
            fake = gen(torch.randn(B, 16))
        gp = penalty(real, fake)
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * gp
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    critic.requires_grad_(False)
    loss_g = -critic(gen(torch.randn(B, 16))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    critic.requires_grad_(True)
    log.append((loss_c.item(), gp.item()))

print("critic %.3f, penalty %.3f" % log[-1])
"""
