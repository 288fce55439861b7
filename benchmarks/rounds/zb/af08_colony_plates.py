NAME = "Finds contaminated regions on images of agar plates with a convolutional autoencoder trained on overlapping patches."
FAULT = "All overlapping patches are materialised as float32 in advance (with a second copy while scaling and concatenating), four times the bytes of the uint8 images they come from and far more than any batch needs."
CURE = "Keep the patches as uint8 and convert each batch to float when it is used."
KIND = "memory"
FAULT_LINES = [
    "    return p.reshape(-1, 1, PATCH, PATCH).float() / 255",
    "train_patches = torch.cat([to_patches(p) for p in plates])",
    "    p = plate.unfold(0, PATCH, STRIDE).unfold(1, PATCH, STRIDE)",
]
FAULT_CALLS = ["to", "_to_copy", "div", "cat", "to_patches", "reshape", "clone", "float", "copy_"]
FAULTY = r'''import numpy as np
import torch
import torch.nn as nn
from scipy.ndimage import gaussian_filter

torch.set_num_threads(1)
torch.manual_seed(9)
rng = np.random.default_rng(9)

SIZE, PATCH, STRIDE = 640, 48, 16
yy, xx = np.mgrid[:SIZE, :SIZE]


def stamp(img, cy, cx, r, value, soft=1.5):
    y0, y1 = max(0, int(cy - 2 * r)), min(SIZE, int(cy + 2 * r) + 1)
    x0, x1 = max(0, int(cx - 2 * r)), min(SIZE, int(cx + 2 * r) + 1)
    d = np.hypot(yy[y0:y1, x0:x1] - cy, xx[y0:y1, x0:x1] - cx)
    w = 1 / (1 + np.exp(np.clip((d - r) / soft, -30, 30)))
    img[y0:y1, x0:x1] = img[y0:y1, x0:x1] * (1 - w) + value * w


def plate_image(n_colonies=130, n_mould=0):
    """Round pale colonies on agar; mould is large, dark and has a frayed rim."""
    img = 95 + 14 * (yy / SIZE) + gaussian_filter(rng.normal(0, 1, (SIZE, SIZE)), 3) * 12
    for _ in range(n_colonies):
        cy, cx = rng.uniform(20, SIZE - 20, 2)
        stamp(img, cy, cx, rng.uniform(4, 11), rng.uniform(185, 215))
    spots = []
    for _ in range(n_mould):
        cy, cx = rng.uniform(60, SIZE - 60, 2)
        for _ in range(40):
            dy, dx = rng.normal(0, 9, 2)
            stamp(img, cy + dy, cx + dx, rng.uniform(1.5, 4), rng.uniform(20, 75), soft=.7)
        spots.append((cy, cx))
    img += rng.normal(0, 3, img.shape)
    return torch.from_numpy(np.clip(img, 0, 255).astype(np.uint8)), spots


def to_patches(plate):
    p = plate.unfold(0, PATCH, STRIDE).unfold(1, PATCH, STRIDE)
    return p.reshape(-1, 1, PATCH, PATCH).float() / 255


def batch_of(patches, idx):
    return patches[idx]


plates = [plate_image()[0] for _ in range(36)]
train_patches = torch.cat([to_patches(p) for p in plates])
print(f"{len(plates)} clean plates, {len(train_patches)} patches of {PATCH} px")

net = nn.Sequential(
    nn.Conv2d(1, 12, 5, stride=2, padding=2), nn.ReLU(),
    nn.Conv2d(12, 16, 3, stride=2, padding=1), nn.ReLU(),
    nn.Conv2d(16, 6, 3, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(6, 16, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(16, 12, 4, stride=2, padding=1), nn.ReLU(),
    nn.ConvTranspose2d(12, 1, 4, stride=2, padding=1),
)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
avg = None
for step in range(1, 401):
    x = batch_of(train_patches, torch.randint(0, len(train_patches), (32,)))
    loss = nn.functional.mse_loss(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
    if step % 100 == 0:
        print(f"step {step:3d}  reconstruction mse {avg:.5f}")

# --- inspect new plates; mould cannot be reconstructed well ---
net.eval()
per_row = (SIZE - PATCH) // STRIDE + 1
found = total = 0
for k in range(4):
    plate, spots = plate_image(n_mould=4)
    patches = to_patches(plate)
    err = []
    with torch.no_grad():
        for idx in torch.arange(len(patches)).split(256):
            x = batch_of(patches, idx)
            err.append((net(x) - x).pow(2).flatten(1).mean(1))
    err = torch.cat(err).reshape(per_row, per_row)
    hot = err > 3 * err.median()
    for cy, cx in spots:
        i, j = int((cy - PATCH / 2) // STRIDE), int((cx - PATCH / 2) // STRIDE)
        found += bool(hot[max(i - 1, 0):i + 2, max(j - 1, 0):j + 2].any())
        total += 1
    print(f"plate {k}: {int(hot.sum())} suspicious patches")
print(f"mould found: {found}/{total}")
'''
CURED = FAULTY.replace("PATCH, PATCH).float() / 255", "PATCH, PATCH)").replace(
    "    return patches[idx]", "    return patches[idx].float() / 255")
