NAME = 'Trains a WGAN with gradient penalty on a table of sensor readings.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = 'create_graph=True and five critic steps per generator step look wasteful, but the penalty is differentiated again and the five steps are the method; fakes are made without gradients in the critic step.'
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(2)

D_COL, Z, B = 32, 64, 1024
mix = torch.randn(4, D_COL, D_COL) / D_COL ** 0.5
centre = 2 * torch.randn(4, D_COL)
which = torch.randint(4, (12_000,))
table = centre[which] + torch.einsum('nd,ndk->nk', torch.randn(12_000, D_COL), mix[which])
table = (table - table.mean(0)) / table.std(0)


def mlp(i, o, w=512):
    return nn.Sequential(nn.Linear(i, w), nn.LeakyReLU(0.2), nn.Linear(w, w), nn.LeakyReLU(0.2), nn.Linear(w, o))


gen, critic = mlp(Z, D_COL), mlp(D_COL, 1)
opt_g = torch.optim.Adam(gen.parameters(), lr=1e-4, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.5, 0.9))


def gradient_penalty(real, fake):
    eps = torch.rand(len(real), 1)
    x = (eps * real + (1 - eps) * fake).requires_grad_(True)
    g, = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return ((g.norm(2, dim=1) - 1) ** 2).mean()


hist = []
for step in range(14):
    for _ in range(5):
        real = table[torch.randint(len(table), (B,))]
        with torch.no_grad():
            fake = gen(torch.randn(B, Z))
        c_loss = critic(fake).mean() - critic(real).mean() + 10 * gradient_penalty(real, fake)
        opt_c.zero_grad()
        c_loss.backward()
        opt_c.step()
    for p in critic.parameters():
        p.requires_grad_(False)
    g_loss = -critic(gen(torch.randn(B, Z))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    for p in critic.parameters():
        p.requires_grad_(True)
    hist.append((c_loss.item(), g_loss.item()))
    if step % 7 == 6:
        c, g = np.mean(hist[-7:], 0)
        print(f'step {step + 1}: critic {c:.3f}  generator {g:.3f}')
"""
