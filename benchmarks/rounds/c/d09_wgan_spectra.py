NAME = 'd09_wgan_spectra'
FAULT = 'The critic update backpropagates through the generator because the fake samples are not detached, and those generator gradients are thrown away.'
CURE = 'Generate the fake samples for the critic under no_grad.'
KIND = 'time'
FAULT_LINES = (33, 36)
FAULT_CALLS = ('backward', 'addmm', 'mm')
FAULTY = """\
import torch
import torch.nn as nn

torch.manual_seed(2)

grid = torch.linspace(0, 1, 400)

def real_spectra(b):
    c = torch.rand(b, 2, 1) * 0.8 + 0.1
    w = torch.rand(b, 2, 1) * 0.03 + 0.01
    return torch.exp(-((grid - c) / w) ** 2).sum(1)

pool = real_spectra(3000)

G = nn.Sequential(
    nn.Linear(32, 512), nn.LeakyReLU(0.2),
    nn.Linear(512, 1024), nn.LeakyReLU(0.2),
    nn.Linear(1024, 1024), nn.LeakyReLU(0.2),
    nn.Linear(1024, 400), nn.Softplus(),
)
C = nn.Sequential(
    nn.Linear(400, 128), nn.LeakyReLU(0.2),
    nn.Linear(128, 1),
)
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_c = torch.optim.RMSprop(C.parameters(), lr=5e-5)

batch, n_critic = 192, 5
for it in range(26):
    for _ in range(n_critic):
        real = pool[torch.randint(0, len(pool), (batch,))]
        z = torch.randn(batch, 32)
        fake = G(z)
        loss_c = C(fake).mean() - C(real).mean()
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        with torch.no_grad():
            for w in C.parameters():
                w.clamp_(-0.05, 0.05)
    z = torch.randn(batch, 32)
    loss_g = -C(G(z)).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

print("critic %.4f  generator %.4f" % (loss_c.item(), loss_g.item()))
"""
CURED = """\
import torch
import torch.nn as nn

torch.manual_seed(2)

grid = torch.linspace(0, 1, 400)

def real_spectra(b):
    c = torch.rand(b, 2, 1) * 0.8 + 0.1
    w = torch.rand(b, 2, 1) * 0.03 + 0.01
    return torch.exp(-((grid - c) / w) ** 2).sum(1)

pool = real_spectra(3000)

G = nn.Sequential(
    nn.Linear(32, 512), nn.LeakyReLU(0.2),
    nn.Linear(512, 1024), nn.LeakyReLU(0.2),
    nn.Linear(1024, 1024), nn.LeakyReLU(0.2),
    nn.Linear(1024, 400), nn.Softplus(),
)
C = nn.Sequential(
    nn.Linear(400, 128), nn.LeakyReLU(0.2),
    nn.Linear(128, 1),
)
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_c = torch.optim.RMSprop(C.parameters(), lr=5e-5)

batch, n_critic = 192, 5
for it in range(26):
    for _ in range(n_critic):
        real = pool[torch.randint(0, len(pool), (batch,))]
        z = torch.randn(batch, 32)
        with torch.no_grad():
            fake = G(z)
        loss_c = C(fake).mean() - C(real).mean()
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
        with torch.no_grad():
            for w in C.parameters():
                w.clamp_(-0.05, 0.05)
    z = torch.randn(batch, 32)
    loss_g = -C(G(z)).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()

print("critic %.4f  generator %.4f" % (loss_c.item(), loss_g.item()))
"""
