NAME = "Trains a small segmentation network on made-up microscopy images with sharpness-aware minimisation (SAM)."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY = "The second forward and backward pass on the same batch is taken at the perturbed weights and is the method itself; the saved perturbations are small and needed to restore the weights."
GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(19)

SIZE, N_TRAIN, N_VAL, BATCH = 64, 96, 48, 16


def make_cells(n, blobs=6):
    axis = torch.arange(SIZE).float()
    centre = torch.rand(n, blobs, 2) * SIZE
    radius = 4 + 5 * torch.rand(n, blobs)
    dy = (axis[None, None] - centre[..., :1]) ** 2
    dx = (axis[None, None] - centre[..., 1:]) ** 2
    dist = dy[..., :, None] + dx[..., None, :]
    mask = (dist < (radius ** 2)[..., None, None]).any(1, keepdim=True).float()
    shade = torch.linspace(0, 0.5, SIZE)[None, None, None]
    return 0.8 * mask + shade + 0.5 * torch.randn(n, 1, SIZE, SIZE), mask


class SAM:
    def __init__(self, params, base, rho=0.05):
        self.params = list(params)
        self.base = base
        self.rho = rho

    @torch.no_grad()
    def climb(self):
        grads = [p.grad for p in self.params]
        norm = torch.stack([g.norm() for g in grads]).norm()
        self.saved = [p.clone() for p in self.params]
        for p, g in zip(self.params, grads):
            p.add_(g, alpha=(self.rho / (norm + 1e-12)).item())

    @torch.no_grad()
    def descend(self):
        for p, old in zip(self.params, self.saved):
            p.copy_(old)
        self.base.step()


def conv(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.GroupNorm(4, c_out), nn.ReLU(inplace=True))


class SegNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2, self.enc3 = conv(1, 16), conv(16, 32), conv(32, 64)
        self.dec2, self.dec1 = conv(96, 32), conv(48, 16)
        self.head = nn.Conv2d(16, 1, 1)

    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        c = self.enc3(F.max_pool2d(b, 2))
        b = self.dec2(torch.cat([F.interpolate(c, scale_factor=2.0), b], 1))
        a = self.dec1(torch.cat([F.interpolate(b, scale_factor=2.0), a], 1))
        return self.head(a)


def criterion(logits, mask):
    p = logits.sigmoid()
    dice = 1 - (2 * (p * mask).sum() + 1) / (p.sum() + mask.sum() + 1)
    return F.binary_cross_entropy_with_logits(logits, mask) + dice


x_train, m_train = make_cells(N_TRAIN)
x_val, m_val = make_cells(N_VAL)
net = SegNet().to(memory_format=torch.channels_last)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
sam = SAM(net.parameters(), opt)

for epoch in range(8):
    total = 0.0
    for idx in torch.randperm(N_TRAIN).split(BATCH):
        x, mask = x_train[idx], m_train[idx]
        opt.zero_grad()
        loss = criterion(net(x), mask)
        loss.backward()
        sam.climb()
        opt.zero_grad()
        criterion(net(x), mask).backward()
        sam.descend()
        total += loss.item() * len(idx)
    with torch.no_grad():
        pred = torch.cat([net(x) > 0 for x in x_val.split(BATCH)]).float()
    dice = 2 * (pred * m_val).sum() / (pred.sum() + m_val.sum())
    print(f"epoch {epoch}: loss {total / N_TRAIN:.3f}  val dice {dice:.3f}")
'''
