NAME = 'Trains a small DCGAN on made-up texture patches with two discriminator steps per generator step.'
FAULT = 'The generated batch is not detached in the discriminator step, so its backward pass runs through the whole generator and the gradients are thrown away.'
CURE = 'Detach the generated batch before it goes into the discriminator in the discriminator step.'
KIND = 'time'
FAULT_LINES = ['fake = gen(torch.randn(BATCH, LATENT))', 'score_real, score_fake = disc(real), disc(fake)', 'd_loss.backward()']
FAULT_CALLS = ['backward', 'Tensor.backward']
FAULTY = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)

BATCH, LATENT, SIZE, STEPS = 32, 64, 28, 45


def texture_batch(n):
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle = math.pi * torch.rand(n, 1, 1)
    freq = 4 + 6 * torch.rand(n, 1, 1)
    phase = 2 * math.pi * torch.rand(n, 1, 1)
    stripes = torch.sin(freq * (xx * angle.cos() + yy * angle.sin()) + phase)
    return (0.8 * stripes + 0.1 * torch.randn(n, SIZE, SIZE)).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(LATENT, 128 * 7 * 7)
        self.up1 = nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1)
        self.mid = nn.Conv2d(64, 64, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1)
        self.out = nn.Conv2d(32, 1, 3, padding=1)
        self.bn0, self.bn1, self.bn2 = nn.BatchNorm2d(128), nn.BatchNorm2d(64), nn.BatchNorm2d(32)

    def forward(self, z):
        x = F.relu(self.bn0(self.fc(z).view(-1, 128, 7, 7)))
        x = F.relu(self.bn1(self.up1(x)))
        x = F.relu(self.mid(x))
        x = F.relu(self.bn2(self.up2(x)))
        return torch.tanh(self.out(x))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(32 * 7 * 7, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


gen, disc = Generator(), Discriminator()
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-4, betas=(0.5, 0.999))

for step in range(1, STEPS + 1):
    for _ in range(2):
        real = texture_batch(BATCH)
        fake = gen(torch.randn(BATCH, LATENT))
        score_real, score_fake = disc(real), disc(fake)
        d_loss = F.softplus(-score_real).mean() + F.softplus(score_fake).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    images = gen(torch.randn(BATCH, LATENT))
    g_loss = F.softplus(-disc(images)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 9 == 0:
        print(f"step {step:3d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  contrast {images.std().item():.3f}")
'''
CURED = r'''import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)

BATCH, LATENT, SIZE, STEPS = 32, 64, 28, 45


def texture_batch(n):
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle = math.pi * torch.rand(n, 1, 1)
    freq = 4 + 6 * torch.rand(n, 1, 1)
    phase = 2 * math.pi * torch.rand(n, 1, 1)
    stripes = torch.sin(freq * (xx * angle.cos() + yy * angle.sin()) + phase)
    return (0.8 * stripes + 0.1 * torch.randn(n, SIZE, SIZE)).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(LATENT, 128 * 7 * 7)
        self.up1 = nn.ConvTranspose2d(128, 64, 4, stride=2, padding=1)
        self.mid = nn.Conv2d(64, 64, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1)
        self.out = nn.Conv2d(32, 1, 3, padding=1)
        self.bn0, self.bn1, self.bn2 = nn.BatchNorm2d(128), nn.BatchNorm2d(64), nn.BatchNorm2d(32)

    def forward(self, z):
        x = F.relu(self.bn0(self.fc(z).view(-1, 128, 7, 7)))
        x = F.relu(self.bn1(self.up1(x)))
        x = F.relu(self.mid(x))
        x = F.relu(self.bn2(self.up2(x)))
        return torch.tanh(self.out(x))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(32 * 7 * 7, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


gen, disc = Generator(), Discriminator()
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(disc.parameters(), lr=2e-4, betas=(0.5, 0.999))

for step in range(1, STEPS + 1):
    for _ in range(2):
        real = texture_batch(BATCH)
        fake = gen(torch.randn(BATCH, LATENT))
        score_real, score_fake = disc(real), disc(fake.detach())
        d_loss = F.softplus(-score_real).mean() + F.softplus(score_fake).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    images = gen(torch.randn(BATCH, LATENT))
    g_loss = F.softplus(-disc(images)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 9 == 0:
        print(f"step {step:3d}  D {d_loss.item():.3f}  G {g_loss.item():.3f}  contrast {images.std().item():.3f}")
'''
