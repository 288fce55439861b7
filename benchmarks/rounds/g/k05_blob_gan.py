NAME = 'Small image GAN with several critic steps'
FAULT = 'The critic step backpropagates through the generator because the generated images are not detached; those generator gradients are thrown away.'
CURE = 'Detach the fake images (or generate them under no_grad) in the critic step.'
KIND = 'time'
FAULT_LINES = [
    'fake = G(torch.randn(batch, z_dim))',
    'd_loss.backward()',
    'd_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()',
]
FAULT_CALLS = ['Tensor.backward', 'aten::convolution_backward', 'ConvolutionBackward0']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

z_dim, batch, n_critic = 32, 16, 5


def sample_blobs(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cy, cx = torch.rand(2, n, 1, 1) * 8 + 4
    r = torch.rand(n, 1, 1) * 2 + 1.5
    img = torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r ** 2))
    return img.unsqueeze(1) * 2 - 1


class Generator(nn.Module):
    def __init__(self, ch=80):
        super().__init__()
        self.fc = nn.Linear(z_dim, ch * 16)
        self.body = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2), nn.Conv2d(ch, ch // 2, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch // 2, 1, 3, padding=1), nn.Tanh(),
        )
        self.ch = ch

    def forward(self, z):
        return self.body(self.fc(z).view(-1, self.ch, 4, 4))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(2 * ch * 16, 1),
        )

    def forward(self, x):
        return self.net(x)


G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.99))
pool = sample_blobs(2048)

for it in range(100):
    for _ in range(n_critic):
        real = pool[torch.randint(0, len(pool), (batch,))]
        fake = G(torch.randn(batch, z_dim))
        d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    g_loss = F.softplus(-D(G(torch.randn(batch, z_dim)))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 25 == 24:
        print(f"iter {it + 1}: D {d_loss.item():.3f}  G {g_loss.item():.3f}")

with torch.no_grad():
    out = G(torch.randn(256, z_dim))
print("pixel mean real/fake", round(pool.mean().item(), 3), round(out.mean().item(), 3))
print("pixel std  real/fake", round(pool.std().item(), 3), round(out.std().item(), 3))
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)

z_dim, batch, n_critic = 32, 16, 5


def sample_blobs(n, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cy, cx = torch.rand(2, n, 1, 1) * 8 + 4
    r = torch.rand(n, 1, 1) * 2 + 1.5
    img = torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * r ** 2))
    return img.unsqueeze(1) * 2 - 1


class Generator(nn.Module):
    def __init__(self, ch=80):
        super().__init__()
        self.fc = nn.Linear(z_dim, ch * 16)
        self.body = nn.Sequential(
            nn.Upsample(scale_factor=2), nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=2), nn.Conv2d(ch, ch // 2, 3, padding=1), nn.ReLU(),
            nn.Conv2d(ch // 2, 1, 3, padding=1), nn.Tanh(),
        )
        self.ch = ch

    def forward(self, z):
        return self.body(self.fc(z).view(-1, self.ch, 4, 4))


class Critic(nn.Module):
    def __init__(self, ch=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Conv2d(ch, 2 * ch, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
            nn.Flatten(), nn.Linear(2 * ch * 16, 1),
        )

    def forward(self, x):
        return self.net(x)


G, D = Generator(), Critic()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.99))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.99))
pool = sample_blobs(2048)

for it in range(100):
    for _ in range(n_critic):
        real = pool[torch.randint(0, len(pool), (batch,))]
        fake = G(torch.randn(batch, z_dim)).detach()
        d_loss = F.softplus(-D(real)).mean() + F.softplus(D(fake)).mean()
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()

    g_loss = F.softplus(-D(G(torch.randn(batch, z_dim)))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if it % 25 == 24:
        print(f"iter {it + 1}: D {d_loss.item():.3f}  G {g_loss.item():.3f}")

with torch.no_grad():
    out = G(torch.randn(256, z_dim))
print("pixel mean real/fake", round(pool.mean().item(), 3), round(out.mean().item(), 3))
print("pixel std  real/fake", round(pool.std().item(), 3), round(out.std().item(), 3))
"""
