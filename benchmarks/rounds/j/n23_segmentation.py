NAME = 'Trains a small U-Net; frequent validation decides on step size and stopping.'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []

GOOD = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(37)
torch.set_num_threads(1)


# cells under a microscope: bright ellipses on an uneven background
def make(n, s=48):
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, s), torch.linspace(-1, 1, s), indexing="ij")
    mask = torch.zeros(n, s, s, dtype=torch.bool)
    for _ in range(5):
        cx, cy, a = (torch.rand(3, n, 1, 1) * 1.6 - 0.8)
        rx, ry = 0.12 + 0.15 * torch.rand(2, n, 1, 1)
        u = (xx - cx) * torch.cos(3 * a) + (yy - cy) * torch.sin(3 * a)
        v = (yy - cy) * torch.cos(3 * a) - (xx - cx) * torch.sin(3 * a)
        mask |= (u / rx) ** 2 + (v / ry) ** 2 < 1
    img = 0.7 * mask + 0.6 * xx * torch.rand(n, 1, 1) + 0.5 * torch.randn(n, s, s)
    return img[:, None].contiguous(memory_format=torch.channels_last), mask.float()[:, None]


class UNet(nn.Module):
    def __init__(self, c=24):
        super().__init__()
        conv = lambda i, o: [nn.Conv2d(i, o, 3, padding=1), nn.ReLU(inplace=True)]
        block = lambda i, o: nn.Sequential(*conv(i, o), *conv(o, o))
        self.d1, self.d2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 2 * c)
        self.u2, self.u1 = block(4 * c, c), block(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        h = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        return self.out(self.u1(torch.cat([F.interpolate(h, scale_factor=2), a], 1)))


@torch.no_grad()
def validate(net, x, y):
    out = net(x)
    p, t = out > 0, y > 0.5
    loss = F.binary_cross_entropy_with_logits(out, y)
    return loss.item(), ((p & t).sum() / (p | t).sum()).item()


x, y = make(480)
xv, yv = make(60)
net = UNet().to(memory_format=torch.channels_last)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
best, waited, step, history = 9.9, 0, 0, []
for epoch in range(3):
    for idx in torch.randperm(len(x)).split(16):
        xb = x[idx].contiguous(memory_format=torch.channels_last)
        loss = F.binary_cross_entropy_with_logits(net(xb), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        if step % 10 == 0:
            v, iou = validate(net, xv, yv)
            history.append(iou)
            # the value decides on the step size and on when to stop
            if v < best - 1e-3:
                best, waited = v, 0
            else:
                waited += 1
                for group in opt.param_groups:
                    group["lr"] *= 0.7
    print(f"epoch {epoch} loss {loss.item():.4f} iou {history[-1]:.4f} lr {opt.param_groups[0]['lr']:.4f}")
    if waited >= 4:
        break
print("best value", round(best, 4), "evaluations", len(history))
"""
