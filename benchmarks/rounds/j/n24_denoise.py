NAME = 'Trains a residual denoising network on synthetic pictures with fresh noise and flips each epoch.'
FAULT = 'The NumPy pictures arrive as float64 and the model was made double to match, so the whole training runs in double precision.'
CURE = 'Convert the pairs to float32 and leave the model in float32.'
KIND = 'time'
FAULT_LINES = [
    'model = DnCNN().double()',
    'return torch.from_numpy(n[:, None]), torch.from_numpy(c[:, None].copy())',
    'imgs = (imgs > 0).astype(float) * 0.6 + imgs / imgs.std() * 0.1 + 0.2',
]
FAULT_CALLS = ['double', 'conv2d', 'convolution', 'backward', 'ConvolutionBackward0']

FAULTY = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.ndimage import gaussian_filter

torch.manual_seed(44)
torch.set_num_threads(1)
rng = np.random.default_rng(44)


def make_images(n, side=48):
    imgs = rng.normal(size=(n, side, side))
    imgs = np.stack([gaussian_filter(im, rng.uniform(1.5, 4)) for im in imgs])
    imgs = (imgs > 0).astype(float) * 0.6 + imgs / imgs.std() * 0.1 + 0.2
    return np.clip(imgs, 0, 1)


class Pictures:
    '''Hands out (noisy, clean) pairs; noise and flips are new every epoch.'''
    def __init__(self, clean, sigma):
        self.clean, self.sigma = clean, sigma

    def pair(self, idx):
        c = self.clean[idx]
        if rng.random() < 0.5:
            c = c[:, :, ::-1]
        if rng.random() < 0.5:
            c = c[:, ::-1]
        n = c + self.sigma * rng.standard_normal(c.shape)
        return torch.from_numpy(n[:, None]), torch.from_numpy(c[:, None].copy())

    def batches(self, size):
        order = rng.permutation(len(self.clean))
        for s in range(0, len(order), size):
            yield self.pair(order[s:s + size])


class DnCNN(nn.Module):
    def __init__(self, c=24, depth=4):
        super().__init__()
        layers = [nn.Conv2d(1, c, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(c, c, 3, padding=1), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, x):
        return x - self.net(x)


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a, b)).item()


data = Pictures(make_images(160), sigma=0.2)
held = Pictures(make_images(40), sigma=0.2)
noisy_v, clean_v = held.pair(np.arange(40))
model = DnCNN().double()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    total = 0.0
    for noisy, clean in data.batches(32):
        loss = F.mse_loss(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(clean)
    with torch.no_grad():
        p = psnr(model(noisy_v).clamp(0, 1), clean_v)
    print(f"epoch {epoch} mse {total / 160:.4f} psnr {p:.1f} dB (input {psnr(noisy_v, clean_v):.1f} dB)")
"""

CURED = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from scipy.ndimage import gaussian_filter

torch.manual_seed(44)
torch.set_num_threads(1)
rng = np.random.default_rng(44)


def make_images(n, side=48):
    imgs = rng.normal(size=(n, side, side))
    imgs = np.stack([gaussian_filter(im, rng.uniform(1.5, 4)) for im in imgs])
    imgs = (imgs > 0).astype(float) * 0.6 + imgs / imgs.std() * 0.1 + 0.2
    return np.clip(imgs, 0, 1)


class Pictures:
    '''Hands out (noisy, clean) pairs; noise and flips are new every epoch.'''
    def __init__(self, clean, sigma):
        self.clean, self.sigma = clean, sigma

    def pair(self, idx):
        c = self.clean[idx]
        if rng.random() < 0.5:
            c = c[:, :, ::-1]
        if rng.random() < 0.5:
            c = c[:, ::-1]
        n = c + self.sigma * rng.standard_normal(c.shape)
        return torch.from_numpy(n[:, None]).float(), torch.from_numpy(c[:, None].copy()).float()

    def batches(self, size):
        order = rng.permutation(len(self.clean))
        for s in range(0, len(order), size):
            yield self.pair(order[s:s + size])


class DnCNN(nn.Module):
    def __init__(self, c=24, depth=4):
        super().__init__()
        layers = [nn.Conv2d(1, c, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(c, c, 3, padding=1), nn.ReLU()]
        self.net = nn.Sequential(*layers, nn.Conv2d(c, 1, 3, padding=1))

    def forward(self, x):
        return x - self.net(x)


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a, b)).item()


data = Pictures(make_images(160), sigma=0.2)
held = Pictures(make_images(40), sigma=0.2)
noisy_v, clean_v = held.pair(np.arange(40))
model = DnCNN()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    total = 0.0
    for noisy, clean in data.batches(32):
        loss = F.mse_loss(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(clean)
    with torch.no_grad():
        p = psnr(model(noisy_v).clamp(0, 1), clean_v)
    print(f"epoch {epoch} mse {total / 160:.4f} psnr {p:.1f} dB (input {psnr(noisy_v, clean_v):.1f} dB)")
"""
