NAME = 'Trains a small convolutional hinge GAN on 32x32 pictures of rings, with three critic steps for each generator step.'
FAULT = "The fake batch of each critic step still hangs on the generator's graph, so that the critic's backward also runs through the whole generator, whose gradients are then thrown away."
CURE = 'Make the fakes for the critic steps under torch.no_grad().'
KIND = 'time'
FAULT_LINES = ['fake = gen(torch.randn(BATCH, Z))', 'd_loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake)).mean()', 'd_loss.backward()']
FAULT_CALLS = ['backward', 'd_loss.backward', 'gen', 'Generator.forward']

FAULTY = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm

torch.set_num_threads(1)
torch.manual_seed(21)

Z, BATCH, STEPS, N_CRITIC = 48, 32, 30, 3


def ring_pictures(n):
    axis = torch.linspace(-1, 1, 32)
    y, x = axis[:, None], axis[None, :]
    cx, cy = (torch.rand(2, n, 1, 1) - 0.5) * 0.6
    radius = 0.25 + 0.3 * torch.rand(n, 1, 1)
    dist = ((x - cx) ** 2 + (y - cy) ** 2).sqrt()
    img = 2 * torch.exp(-((dist - radius) / 0.08) ** 2) - 1
    return img[:, None]


class Up(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(cout)

    def forward(self, x):
        x = F.interpolate(x, scale_factor=2)
        x = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(x)))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(Z, 128 * 16)
        self.ups = nn.Sequential(Up(128, 64), Up(64, 40), Up(40, 24))
        self.out = nn.Conv2d(24, 1, 3, padding=1)

    def forward(self, z):
        x = self.start(z).view(-1, 128, 4, 4)
        return torch.tanh(self.out(self.ups(x)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 24, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(24, 48, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(48, 96, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            nn.Flatten(), spectral_norm(nn.Linear(96 * 16, 1)))

    def forward(self, x):
        return self.net(x).squeeze(1)


gen, critic = Generator(), Critic()
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(critic.parameters(), lr=4e-4, betas=(0.0, 0.9))

for step in range(1, STEPS + 1):
    for _ in range(N_CRITIC):
        real = ring_pictures(BATCH)
        fake = gen(torch.randn(BATCH, Z))
        d_loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    g_loss = -critic(gen(torch.randn(BATCH, Z))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 10 == 0:
        print(f"step {step}: critic {d_loss.item():.3f}  generator {g_loss.item():.3f}")

gen.eval()
with torch.no_grad():
    sample = gen(torch.randn(64, Z))
    gap = (critic(ring_pictures(64)).mean() - critic(sample).mean()).item()
print("sample mean and spread:", round(sample.mean().item(), 3), round(sample.std().item(), 3))
print("critic gap:", round(gap, 3))
'''

CURED = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import spectral_norm

torch.set_num_threads(1)
torch.manual_seed(21)

Z, BATCH, STEPS, N_CRITIC = 48, 32, 30, 3


def ring_pictures(n):
    axis = torch.linspace(-1, 1, 32)
    y, x = axis[:, None], axis[None, :]
    cx, cy = (torch.rand(2, n, 1, 1) - 0.5) * 0.6
    radius = 0.25 + 0.3 * torch.rand(n, 1, 1)
    dist = ((x - cx) ** 2 + (y - cy) ** 2).sqrt()
    img = 2 * torch.exp(-((dist - radius) / 0.08) ** 2) - 1
    return img[:, None]


class Up(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(cout)

    def forward(self, x):
        x = F.interpolate(x, scale_factor=2)
        x = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(x)))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(Z, 128 * 16)
        self.ups = nn.Sequential(Up(128, 64), Up(64, 40), Up(40, 24))
        self.out = nn.Conv2d(24, 1, 3, padding=1)

    def forward(self, z):
        x = self.start(z).view(-1, 128, 4, 4)
        return torch.tanh(self.out(self.ups(x)))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            spectral_norm(nn.Conv2d(1, 24, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(24, 48, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            spectral_norm(nn.Conv2d(48, 96, 4, stride=2, padding=1)), nn.LeakyReLU(0.2),
            nn.Flatten(), spectral_norm(nn.Linear(96 * 16, 1)))

    def forward(self, x):
        return self.net(x).squeeze(1)


gen, critic = Generator(), Critic()
opt_g = torch.optim.Adam(gen.parameters(), lr=2e-4, betas=(0.0, 0.9))
opt_d = torch.optim.Adam(critic.parameters(), lr=4e-4, betas=(0.0, 0.9))

for step in range(1, STEPS + 1):
    for _ in range(N_CRITIC):
        real = ring_pictures(BATCH)
        with torch.no_grad():
            fake = gen(torch.randn(BATCH, Z))
        d_loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    g_loss = -critic(gen(torch.randn(BATCH, Z))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 10 == 0:
        print(f"step {step}: critic {d_loss.item():.3f}  generator {g_loss.item():.3f}")

gen.eval()
with torch.no_grad():
    sample = gen(torch.randn(64, Z))
    gap = (critic(ring_pictures(64)).mean() - critic(sample).mean()).item()
print("sample mean and spread:", round(sample.mean().item(), 3), round(sample.std().item(), 3))
print("critic gap:", round(gap, 3))
'''
