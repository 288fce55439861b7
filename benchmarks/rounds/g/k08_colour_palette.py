NAME = 'k-means colour palettes of photographs'
FAULT = 'Squared distances are made through a broadcast (pixels, centres, channels) difference tensor.'
CURE = 'Use torch.cdist (or the expanded |x|^2 - 2xc + |c|^2 form), which never makes the three-dimensional tensor.'
KIND = 'memory'
FAULT_LINES = [
    'diff = x[:, None, :] - centres[None, :, :]',
    'd2 = (diff ** 2).sum(-1)',
]
FAULT_CALLS = ['assign', 'aten::sub', 'aten::pow', 'aten::sum']
FAULTY = r"""import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(17)


def fake_photo(size=192):
    coarse = torch.rand(1, 3, 6, 6, generator=gen)
    img = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False)[0].clamp(0, 1)
    bands = (torch.arange(size) // 24 % 2).float().view(1, 1, -1)
    return (0.8 * img + 0.2 * bands + 0.03 * torch.randn(3, size, size, generator=gen)).clamp(0, 1)


def local_features(img):
    # colour, blurred colour and gradients of every pixel
    x = img.unsqueeze(0)
    blur = F.avg_pool2d(x, 5, stride=1, padding=2)
    wide = F.avg_pool2d(x, 11, stride=1, padding=5)
    grey = x.mean(1, keepdim=True)
    gx = F.pad(grey[..., 1:] - grey[..., :-1], (0, 1))
    gy = F.pad(grey[..., 1:, :] - grey[..., :-1, :], (0, 0, 0, 1))
    maps = torch.cat([x, blur, wide, 3 * gx, 3 * gy, x - blur], 1)
    return maps.flatten(2).squeeze(0).T.contiguous()


def assign(x, centres):
    diff = x[:, None, :] - centres[None, :, :]
    d2 = (diff ** 2).sum(-1)
    best = d2.min(1)
    return best.values, best.indices


class Palette:
    def __init__(self, k=128, iters=4):
        self.k, self.iters = k, iters

    def fit(self, x):
        pick = torch.randperm(len(x), generator=gen)[: self.k]
        self.centres = x[pick].clone()
        for _ in range(self.iters):
            d2, label = assign(x, self.centres)
            total = torch.zeros_like(self.centres).index_add_(0, label, x)
            count = torch.bincount(label, minlength=self.k).clamp(min=1)
            self.centres = total / count.unsqueeze(1)
        return self

    def quantise(self, x):
        d2, label = assign(x, self.centres)
        return self.centres[label], d2.mean().item()


psnrs = []
for n in range(4):
    photo = fake_photo()
    feats = local_features(photo)
    palette = Palette().fit(feats)
    approx, inertia = palette.quantise(feats)
    rgb = approx[:, :3].T.reshape_as(photo)
    mse = F.mse_loss(rgb, photo).item()
    psnrs.append(10 * np.log10(1 / mse))
    print(f"photo {n}: {len(feats)} pixels, inertia {inertia:.4f}, PSNR {psnrs[-1]:.2f} dB")
print("mean PSNR", round(float(np.mean(psnrs)), 2))
"""
CURED = r"""import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(1)
gen = torch.Generator().manual_seed(17)


def fake_photo(size=192):
    coarse = torch.rand(1, 3, 6, 6, generator=gen)
    img = F.interpolate(coarse, size=(size, size), mode="bicubic", align_corners=False)[0].clamp(0, 1)
    bands = (torch.arange(size) // 24 % 2).float().view(1, 1, -1)
    return (0.8 * img + 0.2 * bands + 0.03 * torch.randn(3, size, size, generator=gen)).clamp(0, 1)


def local_features(img):
    # colour, blurred colour and gradients of every pixel
    x = img.unsqueeze(0)
    blur = F.avg_pool2d(x, 5, stride=1, padding=2)
    wide = F.avg_pool2d(x, 11, stride=1, padding=5)
    grey = x.mean(1, keepdim=True)
    gx = F.pad(grey[..., 1:] - grey[..., :-1], (0, 1))
    gy = F.pad(grey[..., 1:, :] - grey[..., :-1, :], (0, 0, 0, 1))
    maps = torch.cat([x, blur, wide, 3 * gx, 3 * gy, x - blur], 1)
    return maps.flatten(2).squeeze(0).T.contiguous()


def assign(x, centres):
    best = torch.cdist(x, centres).min(1)
    return best.values ** 2, best.indices


class Palette:
    def __init__(self, k=128, iters=4):
        self.k, self.iters = k, iters

    def fit(self, x):
        pick = torch.randperm(len(x), generator=gen)[: self.k]
        self.centres = x[pick].clone()
        for _ in range(self.iters):
            d2, label = assign(x, self.centres)
            total = torch.zeros_like(self.centres).index_add_(0, label, x)
            count = torch.bincount(label, minlength=self.k).clamp(min=1)
            self.centres = total / count.unsqueeze(1)
        return self

    def quantise(self, x):
        d2, label = assign(x, self.centres)
        return self.centres[label], d2.mean().item()


psnrs = []
for n in range(4):
    photo = fake_photo()
    feats = local_features(photo)
    palette = Palette().fit(feats)
    approx, inertia = palette.quantise(feats)
    rgb = approx[:, :3].T.reshape_as(photo)
    mse = F.mse_loss(rgb, photo).item()
    psnrs.append(10 * np.log10(1 / mse))
    print(f"photo {n}: {len(feats)} pixels, inertia {inertia:.4f}, PSNR {psnrs[-1]:.2f} dB")
print("mean PSNR", round(float(np.mean(psnrs)), 2))
"""
