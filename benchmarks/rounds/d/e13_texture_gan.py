NAME = 'e13_texture_gan'

FAULT = "The generated images are not detached in the discriminator step, so the generator's graph is recorded and back-propagated there for gradients that are zeroed right after."

CURE = 'Detach the fake images (or generate them under no_grad) in the discriminator step.'

KIND = 'time'

FAULT_LINES = [
    '        fake = self.G(self.noise(len(real)))',
    '        loss_d = F.relu(1 - self.D(real)).mean() + F.relu(1 + self.D(fake)).mean()',
    '        loss_d.backward()',
]

FAULT_CALLS = [
    'Tensor.backward',
    'aten::convolution_backward',
    'Generator.forward',
    'nn.ConvTranspose2d',
]

FAULTY = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(41)
torch.set_num_threads(1)


class Generator(nn.Module):
    def __init__(self, z=64, ch=48):
        super().__init__()
        self.fc = nn.Linear(z, ch * 4 * 8 * 8)
        self.ch = ch
        self.up1 = nn.ConvTranspose2d(ch * 4, ch * 2, 4, 2, 1)
        self.mid1 = nn.Conv2d(ch * 2, ch * 2, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(ch * 2, ch, 4, 2, 1)
        self.mid2 = nn.Conv2d(ch, ch, 3, padding=1)
        self.rgb = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, z):
        h = self.fc(z).view(-1, self.ch * 4, 8, 8).relu()
        h = F.leaky_relu(self.mid1(self.up1(h).relu()), 0.2)
        h = F.leaky_relu(self.mid2(self.up2(h).relu()), 0.2)
        return torch.tanh(self.rgb(h))


def discriminator(ch=16):
    sn = nn.utils.parametrizations.spectral_norm
    return nn.Sequential(
        sn(nn.Conv2d(1, ch, 4, 2, 1)), nn.LeakyReLU(0.2),
        sn(nn.Conv2d(ch, ch * 2, 4, 2, 1)), nn.LeakyReLU(0.2),
        sn(nn.Conv2d(ch * 2, ch * 4, 4, 2, 1)), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(ch * 4 * 16, 1))


class GANTrainer:
    def __init__(self):
        self.G, self.D = Generator(), discriminator()
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=2e-4, betas=(0.5, 0.9))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=4e-4, betas=(0.5, 0.9))

    def noise(self, n):
        return torch.randn(n, 64)

    def d_step(self, real):
        self.opt_d.zero_grad()
        fake = self.G(self.noise(len(real)))
        loss_d = F.relu(1 - self.D(real)).mean() + F.relu(1 + self.D(fake)).mean()
        loss_d.backward()
        self.opt_d.step()
        return loss_d.item()

    def g_step(self, n):
        self.opt_g.zero_grad()
        loss_g = -self.D(self.G(self.noise(n))).mean()
        loss_g.backward()
        self.opt_g.step()
        return loss_g.item()


def textures(n):
    yy, xx = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
    th, f = torch.rand(n, 1, 1) * 3.14, torch.rand(n, 1, 1) * 0.6 + 0.3
    return torch.sin(f * (xx * th.cos() + yy * th.sin()) + torch.rand(n, 1, 1) * 6.28)[:, None]


trainer = GANTrainer()
for it in range(14):
    for _ in range(2):                    # two discriminator steps per generator step
        d = trainer.d_step(textures(32))
    g = trainer.g_step(32)
    if it % 7 == 6:
        print(f"{it + 1:3d}  D {d:.4f}  G {g:+.4f}")
with torch.no_grad():
    img = trainer.G(trainer.noise(64))
print("sample mean/std", round(img.mean().item(), 4), round(img.std().item(), 4))
'''

CURED = r'''
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(41)
torch.set_num_threads(1)


class Generator(nn.Module):
    def __init__(self, z=64, ch=48):
        super().__init__()
        self.fc = nn.Linear(z, ch * 4 * 8 * 8)
        self.ch = ch
        self.up1 = nn.ConvTranspose2d(ch * 4, ch * 2, 4, 2, 1)
        self.mid1 = nn.Conv2d(ch * 2, ch * 2, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(ch * 2, ch, 4, 2, 1)
        self.mid2 = nn.Conv2d(ch, ch, 3, padding=1)
        self.rgb = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, z):
        h = self.fc(z).view(-1, self.ch * 4, 8, 8).relu()
        h = F.leaky_relu(self.mid1(self.up1(h).relu()), 0.2)
        h = F.leaky_relu(self.mid2(self.up2(h).relu()), 0.2)
        return torch.tanh(self.rgb(h))


def discriminator(ch=16):
    sn = nn.utils.parametrizations.spectral_norm
    return nn.Sequential(
        sn(nn.Conv2d(1, ch, 4, 2, 1)), nn.LeakyReLU(0.2),
        sn(nn.Conv2d(ch, ch * 2, 4, 2, 1)), nn.LeakyReLU(0.2),
        sn(nn.Conv2d(ch * 2, ch * 4, 4, 2, 1)), nn.LeakyReLU(0.2),
        nn.Flatten(), nn.Linear(ch * 4 * 16, 1))


class GANTrainer:
    def __init__(self):
        self.G, self.D = Generator(), discriminator()
        self.opt_g = torch.optim.Adam(self.G.parameters(), lr=2e-4, betas=(0.5, 0.9))
        self.opt_d = torch.optim.Adam(self.D.parameters(), lr=4e-4, betas=(0.5, 0.9))

    def noise(self, n):
        return torch.randn(n, 64)

    def d_step(self, real):
        self.opt_d.zero_grad()
        with torch.no_grad():
            fake = self.G(self.noise(len(real)))
        loss_d = F.relu(1 - self.D(real)).mean() + F.relu(1 + self.D(fake)).mean()
        loss_d.backward()
        self.opt_d.step()
        return loss_d.item()

    def g_step(self, n):
        self.opt_g.zero_grad()
        loss_g = -self.D(self.G(self.noise(n))).mean()
        loss_g.backward()
        self.opt_g.step()
        return loss_g.item()


def textures(n):
    yy, xx = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
    th, f = torch.rand(n, 1, 1) * 3.14, torch.rand(n, 1, 1) * 0.6 + 0.3
    return torch.sin(f * (xx * th.cos() + yy * th.sin()) + torch.rand(n, 1, 1) * 6.28)[:, None]


trainer = GANTrainer()
for it in range(14):
    for _ in range(2):                    # two discriminator steps per generator step
        d = trainer.d_step(textures(32))
    g = trainer.g_step(32)
    if it % 7 == 6:
        print(f"{it + 1:3d}  D {d:.4f}  G {g:+.4f}")
with torch.no_grad():
    img = trainer.G(trainer.noise(64))
print("sample mean/std", round(img.mean().item(), 4), round(img.std().item(), 4))
'''
