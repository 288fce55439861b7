NAME = 'Trains a convolutional GAN on pictures of soft discs.'
FAULT = 'In the critic step the generated pictures are not detached, so the critic loss is propagated back through the whole generator and those gradients are thrown away.'
CURE = 'Make the fake pictures of the critic step without a graph (detach or no_grad).'
KIND = 'time'
FAULT_LINES = [
    'fake = G(torch.randn(B, Z))',
    'loss_d = critic_loss(D, real, fake)',
    'loss_d.backward()',
]
FAULT_CALLS = ['backward', 'ConvolutionBackward0', 'convolution_backward', 'critic_loss']

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
torch.set_num_threads(1)

# 32x32 pictures of soft discs
N, Z, B = 2000, 32, 64
yy, xx = torch.meshgrid(torch.linspace(-1, 1, 32), torch.linspace(-1, 1, 32), indexing="ij")
cx, cy = torch.rand(N, 1, 1) - 0.5, torch.rand(N, 1, 1) - 0.5
rad = 0.2 + 0.3 * torch.rand(N, 1, 1)
imgs = torch.tanh(8 * (rad - ((xx - cx) ** 2 + (yy - cy) ** 2).sqrt())).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self, z=Z, c=40):
        super().__init__()
        self.fc = nn.Linear(z, c * 2 * 64)
        self.net = nn.Sequential(
            nn.Conv2d(c * 2, c * 2, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(c * 2, c, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, 1, 3, padding=1), nn.Tanh(),
        )

    def forward(self, z):
        return self.net(self.fc(z).view(len(z), -1, 8, 8))


class Critic(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(c, 2 * c, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(2 * c * 64, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def critic_loss(D, real, fake):
    return F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()


def generator_loss(D, fake):
    return F.softplus(-D(fake)).mean()


G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.99))
for step in range(22):
    # critic, two steps for each one of the generator
    D.requires_grad_(True)
    for _ in range(2):
        real = imgs[torch.randint(0, N, (B,))]
        fake = G(torch.randn(B, Z))
        loss_d = critic_loss(D, real, fake)
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    # generator
    D.requires_grad_(False)
    loss_g = generator_loss(D, G(torch.randn(B, Z)))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 5 == 0:
        print(f"step {step:3d}  d {loss_d.item():.4f}  g {loss_g.item():.4f}")
with torch.no_grad():
    pics = G(torch.randn(200, Z))
print("generated mean", round(pics.mean().item(), 4), "real mean", round(imgs.mean().item(), 4))
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
torch.set_num_threads(1)

# 32x32 pictures of soft discs
N, Z, B = 2000, 32, 64
yy, xx = torch.meshgrid(torch.linspace(-1, 1, 32), torch.linspace(-1, 1, 32), indexing="ij")
cx, cy = torch.rand(N, 1, 1) - 0.5, torch.rand(N, 1, 1) - 0.5
rad = 0.2 + 0.3 * torch.rand(N, 1, 1)
imgs = torch.tanh(8 * (rad - ((xx - cx) ** 2 + (yy - cy) ** 2).sqrt())).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self, z=Z, c=40):
        super().__init__()
        self.fc = nn.Linear(z, c * 2 * 64)
        self.net = nn.Sequential(
            nn.Conv2d(c * 2, c * 2, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(c * 2, c, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, 1, 3, padding=1), nn.Tanh(),
        )

    def forward(self, z):
        return self.net(self.fc(z).view(len(z), -1, 8, 8))


class Critic(nn.Module):
    def __init__(self, c=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Conv2d(c, 2 * c, 4, 2, 1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(2 * c * 64, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


def critic_loss(D, real, fake):
    return F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()


def generator_loss(D, fake):
    return F.softplus(-D(fake)).mean()


G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.99))
for step in range(22):
    # critic, two steps for each one of the generator
    D.requires_grad_(True)
    for _ in range(2):
        real = imgs[torch.randint(0, N, (B,))]
        fake = G(torch.randn(B, Z))
        loss_d = critic_loss(D, real, fake.detach())
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    # generator
    D.requires_grad_(False)
    loss_g = generator_loss(D, G(torch.randn(B, Z)))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 5 == 0:
        print(f"step {step:3d}  d {loss_d.item():.4f}  g {loss_g.item():.4f}")
with torch.no_grad():
    pics = G(torch.randn(200, Z))
print("generated mean", round(pics.mean().item(), 4), "real mean", round(imgs.mean().item(), 4))
"""
