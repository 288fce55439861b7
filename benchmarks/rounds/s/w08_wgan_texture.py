NAME = 'Trains a small WGAN with weight clipping on synthetic texture patches.'
FAULT = 'In the critic steps the generated batch is not detached, so that each critic step also backpropagates through the generator.'
CURE = 'Detach the generated batch in the critic step.'
KIND = 'time'
FAULT_LINES = [
    'fake = generator(torch.randn(BATCH, LATENT))',
    'critic_loss = critic(fake).mean() - critic(real).mean()',
    'critic_loss.backward()',
]
FAULT_CALLS = ['backward', 'generator', 'critic_loss.backward']

FAULTY = r'''import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)

LATENT, BATCH, SIZE = 32, 32, 16
N_CRITIC, STEPS, CLIP = 4, 30, 0.03

yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")


def real_textures(n):
    angle = torch.rand(n, 1, 1) * math.pi
    freq = 0.5 + torch.rand(n, 1, 1)
    phase = torch.rand(n, 1, 1) * 2 * math.pi
    wave = torch.sin(freq * (xx * angle.cos() + yy * angle.sin()) + phase)
    return (0.9 * wave + 0.05 * torch.randn(n, SIZE, SIZE)).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc = nn.Linear(LATENT, width * 2 * 4 * 4)
        self.net = nn.Sequential(
            nn.Unflatten(1, (width * 2, 4, 4)),
            nn.BatchNorm2d(width * 2),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width * 2, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.net(self.fc(z))


class Critic(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(width * 2 * (SIZE // 4) ** 2, 1),
        )

    def forward(self, x):
        return self.net(x)


generator, critic = Generator(), Critic()
opt_g = torch.optim.RMSprop(generator.parameters(), lr=2e-4)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-4)

for step in range(1, STEPS + 1):
    for _ in range(N_CRITIC):
        real = real_textures(BATCH)
        fake = generator(torch.randn(BATCH, LATENT))
        critic_loss = critic(fake).mean() - critic(real).mean()
        opt_c.zero_grad()
        critic_loss.backward()
        opt_c.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-CLIP, CLIP)

    fake = generator(torch.randn(BATCH, LATENT))
    gen_loss = -critic(fake).mean()
    opt_g.zero_grad()
    gen_loss.backward()
    opt_g.step()
    if step % 10 == 0:
        print(f"step {step:3d}  distance {-critic_loss.item():.4f}")

generator.eval()
with torch.no_grad():
    images = generator(torch.randn(64, LATENT))
print(f"generated: mean {images.mean().item():.3f} std {images.std().item():.3f}")
'''

CURED = r'''import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)

LATENT, BATCH, SIZE = 32, 32, 16
N_CRITIC, STEPS, CLIP = 4, 30, 0.03

yy, xx = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")


def real_textures(n):
    angle = torch.rand(n, 1, 1) * math.pi
    freq = 0.5 + torch.rand(n, 1, 1)
    phase = torch.rand(n, 1, 1) * 2 * math.pi
    wave = torch.sin(freq * (xx * angle.cos() + yy * angle.sin()) + phase)
    return (0.9 * wave + 0.05 * torch.randn(n, SIZE, SIZE)).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.fc = nn.Linear(LATENT, width * 2 * 4 * 4)
        self.net = nn.Sequential(
            nn.Unflatten(1, (width * 2, 4, 4)),
            nn.BatchNorm2d(width * 2),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width * 2, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(width, width, 3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.net(self.fc(z))


class Critic(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, width * 2, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(width * 2 * (SIZE // 4) ** 2, 1),
        )

    def forward(self, x):
        return self.net(x)


generator, critic = Generator(), Critic()
opt_g = torch.optim.RMSprop(generator.parameters(), lr=2e-4)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=2e-4)

for step in range(1, STEPS + 1):
    for _ in range(N_CRITIC):
        real = real_textures(BATCH)
        fake = generator(torch.randn(BATCH, LATENT)).detach()
        critic_loss = critic(fake).mean() - critic(real).mean()
        opt_c.zero_grad()
        critic_loss.backward()
        opt_c.step()
        with torch.no_grad():
            for p in critic.parameters():
                p.clamp_(-CLIP, CLIP)

    fake = generator(torch.randn(BATCH, LATENT))
    gen_loss = -critic(fake).mean()
    opt_g.zero_grad()
    gen_loss.backward()
    opt_g.step()
    if step % 10 == 0:
        print(f"step {step:3d}  distance {-critic_loss.item():.4f}")

generator.eval()
with torch.no_grad():
    images = generator(torch.randn(64, LATENT))
print(f"generated: mean {images.mean().item():.3f} std {images.std().item():.3f}")
'''
