NAME = 'Trains a small GAN that paints 32x32 grey textures.'
FAULT = 'The discriminator loss is propagated back through the generator, whose gradients are thrown away (the generated pictures are not detached).'
CURE = 'Use fake.detach() in the discriminator loss and drop retain_graph.'
KIND = 'time'
FAULT_LINES = [
    'd_loss = bce(D(real), ones) + bce(D(fake), zeros)',
    'd_loss.backward(retain_graph=True)',
]
FAULT_CALLS = ['backward', 'convolution_backward', 'ConvolutionBackward0', 'run_backward']
FAULTY = r"""
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

def textures(n, side=32):
    u, v = np.meshgrid(np.arange(side), np.arange(side))
    f = np.random.uniform(0.2, 0.9, (n, 2, 1, 1))
    ph = np.random.uniform(0, 6.28, (n, 1, 1))
    img = np.sin(f[:, 0] * u + ph) * np.cos(f[:, 1] * v - ph) + 0.1 * np.random.randn(n, side, side)
    return torch.from_numpy(np.tanh(img)).float().unsqueeze(1)

Z = 48
G = nn.Sequential(
    nn.ConvTranspose2d(Z, 128, 4), nn.BatchNorm2d(128), nn.ReLU(True),
    nn.ConvTranspose2d(128, 96, 4, 2, 1), nn.BatchNorm2d(96), nn.ReLU(True),
    nn.ConvTranspose2d(96, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.ConvTranspose2d(64, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 1, 4), nn.Flatten(0))

data = textures(1280)
bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
B = 64
ones, zeros = torch.ones(B), torch.zeros(B)
log_d, log_g = [], []

for epoch in range(3):
    for idx in torch.randperm(len(data)).split(B):
        real = data[idx]
        fake = G(torch.randn(B, Z, 1, 1))

        opt_d.zero_grad()
        d_loss = bce(D(real), ones) + bce(D(fake), zeros)
        d_loss.backward(retain_graph=True)
        opt_d.step()

        opt_g.zero_grad()
        g_loss = bce(D(fake), ones)
        g_loss.backward()
        opt_g.step()

        log_d.append(d_loss.item())
        log_g.append(g_loss.item())
    print(f'epoch {epoch + 1}: D {np.mean(log_d[-20:]):.3f}  G {np.mean(log_g[-20:]):.3f}')
"""
CURED = r"""
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
np.random.seed(0)

def textures(n, side=32):
    u, v = np.meshgrid(np.arange(side), np.arange(side))
    f = np.random.uniform(0.2, 0.9, (n, 2, 1, 1))
    ph = np.random.uniform(0, 6.28, (n, 1, 1))
    img = np.sin(f[:, 0] * u + ph) * np.cos(f[:, 1] * v - ph) + 0.1 * np.random.randn(n, side, side)
    return torch.from_numpy(np.tanh(img)).float().unsqueeze(1)

Z = 48
G = nn.Sequential(
    nn.ConvTranspose2d(Z, 128, 4), nn.BatchNorm2d(128), nn.ReLU(True),
    nn.ConvTranspose2d(128, 96, 4, 2, 1), nn.BatchNorm2d(96), nn.ReLU(True),
    nn.ConvTranspose2d(96, 64, 4, 2, 1), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(True),
    nn.ConvTranspose2d(64, 1, 4, 2, 1), nn.Tanh())
D = nn.Sequential(
    nn.Conv2d(1, 16, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(16, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 32, 4, 2, 1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 1, 4), nn.Flatten(0))

data = textures(1280)
bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
B = 64
ones, zeros = torch.ones(B), torch.zeros(B)
log_d, log_g = [], []

for epoch in range(3):
    for idx in torch.randperm(len(data)).split(B):
        real = data[idx]
        fake = G(torch.randn(B, Z, 1, 1))

        opt_d.zero_grad()
        d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
        d_loss.backward()
        opt_d.step()

        opt_g.zero_grad()
        g_loss = bce(D(fake), ones)
        g_loss.backward()
        opt_g.step()

        log_d.append(d_loss.item())
        log_g.append(g_loss.item())
    print(f'epoch {epoch + 1}: D {np.mean(log_d[-20:]):.3f}  G {np.mean(log_g[-20:]):.3f}')
"""
