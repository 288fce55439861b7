NAME = "Pretrains a convolutional encoder on microscopy crops and then trains a mask decoder on top of the kept encoder."
FAULT = "In the second stage the encoder is never updated, yet its forward pass is recorded and the backward pass runs through all of its layers."
CURE = "Run the encoder under torch.no_grad() in the second stage."
KIND = "time"
FAULT_LINES = ["        feats = encoder(xb)", "        loss.backward()"]
FAULT_CALLS = ["convolution_backward", "mkldnn_convolution", "backward", "native_group_norm_backward", "threshold_backward", "encoder"]
FAULTY = r'''
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(21)
rng = np.random.default_rng(21)

SIZE = 64


def draw_field(n_cells):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    img = np.zeros((SIZE, SIZE))
    mask = np.zeros((SIZE, SIZE))
    for _ in range(n_cells):
        cy, cx = rng.uniform(4, SIZE - 4, 2)
        a, b = rng.uniform(3, 8, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        d = (u / a) ** 2 + (v / b) ** 2
        img += rng.uniform(0.5, 1.0) * np.exp(-d)
        mask = np.maximum(mask, d < 1)
    img += rng.normal(0, 0.15, img.shape) + 0.2 * xx / SIZE
    return img, mask


fields = [draw_field(rng.integers(3, 9)) for _ in range(320)]
images = torch.tensor(np.stack([f[0] for f in fields]), dtype=torch.float32)[:, None]
masks = torch.tensor(np.stack([f[1] for f in fields]), dtype=torch.float32)[:, None]
images = (images - images.mean()) / images.std()


def block(ci, co, stride=1):
    return nn.Sequential(nn.Conv2d(ci, co, 3, stride, 1), nn.GroupNorm(4, co), nn.ReLU())


encoder = nn.Sequential(block(1, 16), block(16, 32, 2), block(32, 32), block(32, 64, 2), block(64, 64))
recon = nn.Sequential(nn.Conv2d(64, 16, 1), nn.PixelShuffle(4))
decoder = nn.Sequential(
    nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(),
    nn.Conv2d(32, 16, 1), nn.PixelShuffle(4))


def dice(logit, target):
    p = (logit > 0).float()
    return (2 * (p * target).sum() / (p.sum() + target.sum())).item()


# stage 1: denoising on unlabelled crops
opt = torch.optim.Adam([*encoder.parameters(), *recon.parameters()], lr=2e-3)
for epoch in range(2):
    for idx in torch.randperm(256).split(16):
        x = images[idx]
        loss = F.mse_loss(recon(encoder(x + 0.5 * torch.randn_like(x))), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"pretrain {epoch}: mse {loss.item():.3f}")

# stage 2: masks
encoder.eval()
opt = torch.optim.Adam(decoder.parameters(), lr=2e-3)
for epoch in range(8):
    total = 0.0
    for idx in torch.randperm(256).split(16):
        xb, yb = images[idx], masks[idx]
        if torch.rand(1) < 0.5:
            xb, yb = xb.flip(-1), yb.flip(-1)
        xb = xb * (0.8 + 0.4 * torch.rand(len(xb), 1, 1, 1)) + 0.1 * torch.randn_like(xb)
        feats = encoder(xb)
        logit = decoder(feats)
        loss = F.binary_cross_entropy_with_logits(logit, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        score = dice(decoder(encoder(images[256:])), masks[256:])
    print(f"masks {epoch}: loss {total / 16:.4f}  dice {score:.3f}")
'''
CURED = FAULTY.replace("        feats = encoder(xb)\n", "        with torch.no_grad():\n            feats = encoder(xb)\n")
