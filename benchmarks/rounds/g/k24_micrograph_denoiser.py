NAME = 'Residual denoiser for microscope images'
FAULT = 'The images come from NumPy as float64 and the network is turned to double to match, so all convolutions run in double precision.'
CURE = 'Turn the data into float32 (torch.from_numpy(...).float()) and leave the network in float32.'
KIND = 'time'
FAULT_LINES = [
    'model = Denoiser().double()',
    'noisy_t, clean_t = torch.from_numpy(noisy).unsqueeze(1), torch.from_numpy(clean).unsqueeze(1)',
]
FAULT_CALLS = ['Module.double', 'aten::convolution', 'aten::conv2d', 'aten::convolution_backward', 'Denoiser.forward']
FAULTY = r"""import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(79)
rng = np.random.default_rng(79)


def micrograph(size=48):
    img = np.zeros((size, size))
    yy, xx = np.mgrid[:size, :size]
    for _ in range(rng.integers(4, 9)):
        y, x = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(3, 7, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - x) * np.cos(th) + (yy - y) * np.sin(th)
        v = -(xx - x) * np.sin(th) + (yy - y) * np.cos(th)
        img += rng.uniform(0.4, 1.0) * ((u / a) ** 2 + (v / b) ** 2 < 1)
    img = gaussian_filter(img, 0.8)
    return img / max(img.max(), 1e-6)


clean = np.stack([micrograph() for _ in range(220)])
photons = 25.0
noisy = rng.poisson(clean * photons) / photons + rng.normal(0, 0.05, clean.shape)
print("noisy PSNR", round(10 * np.log10(1 / np.mean((noisy - clean) ** 2)), 2), "dB")

noisy_t, clean_t = torch.from_numpy(noisy).unsqueeze(1), torch.from_numpy(clean).unsqueeze(1)
n_train = 180
x_tr, y_tr = noisy_t[:n_train], clean_t[:n_train]
x_te, y_te = noisy_t[n_train:], clean_t[n_train:]


class Denoiser(nn.Module):
    def __init__(self, ch=16, depth=3):
        super().__init__()
        layers = [nn.Conv2d(1, ch, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 1):
            layers += [nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(ch, 1, 3, padding=1)]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return x - self.body(x)


model = Denoiser().double()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def psnr(a, b):
    return 10 * torch.log10(1 / nn.functional.mse_loss(a, b)).item()


for epoch in range(6):
    model.train()
    running = 0.0
    for idx in torch.randperm(n_train).split(12):
        out = model(x_tr[idx])
        loss = nn.functional.mse_loss(out, y_tr[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        score = psnr(model(x_te), y_te)
    print(f"epoch {epoch + 1}: loss {running / n_train:.4f}  test PSNR {score:.2f} dB")
"""
CURED = r"""import numpy as np
import torch
from scipy.ndimage import gaussian_filter
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(79)
rng = np.random.default_rng(79)


def micrograph(size=48):
    img = np.zeros((size, size))
    yy, xx = np.mgrid[:size, :size]
    for _ in range(rng.integers(4, 9)):
        y, x = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(3, 7, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - x) * np.cos(th) + (yy - y) * np.sin(th)
        v = -(xx - x) * np.sin(th) + (yy - y) * np.cos(th)
        img += rng.uniform(0.4, 1.0) * ((u / a) ** 2 + (v / b) ** 2 < 1)
    img = gaussian_filter(img, 0.8)
    return img / max(img.max(), 1e-6)


clean = np.stack([micrograph() for _ in range(220)])
photons = 25.0
noisy = rng.poisson(clean * photons) / photons + rng.normal(0, 0.05, clean.shape)
print("noisy PSNR", round(10 * np.log10(1 / np.mean((noisy - clean) ** 2)), 2), "dB")

noisy_t, clean_t = torch.from_numpy(noisy).float().unsqueeze(1), torch.from_numpy(clean).float().unsqueeze(1)
n_train = 180
x_tr, y_tr = noisy_t[:n_train], clean_t[:n_train]
x_te, y_te = noisy_t[n_train:], clean_t[n_train:]


class Denoiser(nn.Module):
    def __init__(self, ch=16, depth=3):
        super().__init__()
        layers = [nn.Conv2d(1, ch, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 1):
            layers += [nn.Conv2d(ch, ch, 3, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(ch, 1, 3, padding=1)]
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return x - self.body(x)


model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def psnr(a, b):
    return 10 * torch.log10(1 / nn.functional.mse_loss(a, b)).item()


for epoch in range(6):
    model.train()
    running = 0.0
    for idx in torch.randperm(n_train).split(12):
        out = model(x_tr[idx])
        loss = nn.functional.mse_loss(out, y_tr[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        score = psnr(model(x_te), y_te)
    print(f"epoch {epoch + 1}: loss {running / n_train:.4f}  test PSNR {score:.2f} dB")
"""
