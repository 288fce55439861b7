NAME = 'Texture synthesis: optimises an image to match Gram matrices of a fixed convolutional extractor.'
FAULT = 'The fixed extractor keeps requires_grad=True, so each backward also computes (and accumulates) the gradients of all its weights, which nobody uses.'
CURE = 'Freeze it: net.requires_grad_(False).'
KIND = 'time'
FAULT_LINES = [
    'loss.backward()',
    'net = Extractor().eval()',
    'opt = torch.optim.Adam([image], lr=0.04)',
]
FAULT_CALLS = ['backward', 'loss.backward', 'Tensor.backward', 'aten::convolution_backward', 'ConvolutionBackward0', 'aten::mkldnn_convolution_backward', 'run_backward']
FAULTY = r"""
# texture synthesis: match Gram matrices of a fixed feature extractor
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

SIZE = 128
STEPS = 280


def make_texture(size):
    ax = torch.linspace(0, 1, size)
    y, x = torch.meshgrid(ax, ax, indexing='ij')
    r = 0.5 + 0.5 * torch.sin(40 * x + 6 * torch.sin(9 * y))
    g = 0.5 + 0.5 * torch.cos(35 * (x + y))
    b = (torch.rand(size, size) > 0.7).float()
    return torch.stack([r, g, b]).unsqueeze(0)


class Extractor(nn.Module):
    '''VGG-like stack with fixed weights; returns the activations for Gram matrices'''

    def __init__(self, widths=(24, 48, 96)):
        super().__init__()
        blocks, c = [], 3
        for w in widths:
            blocks.append(nn.Sequential(
                nn.Conv2d(c, w, 3, padding=1), nn.ReLU(),
                nn.Conv2d(w, w, 3, padding=1), nn.ReLU()))
            c = w
        self.blocks = nn.ModuleList(blocks)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.orthogonal_(m.weight, gain=1.4)
                nn.init.zeros_(m.bias)

    def forward(self, img):
        feats = []
        h = (img - 0.5) / 0.25
        for i, block in enumerate(self.blocks):
            if i:
                h = F.avg_pool2d(h, 2)
            h = block(h)
            feats.append(h)
        return feats


def gram(f):
    b, c, h, w = f.shape
    m = f.reshape(b, c, h * w)
    return m @ m.transpose(1, 2) / (h * w)


def total_variation(img):
    dx = (img[..., 1:] - img[..., :-1]).abs().mean()
    dy = (img[..., 1:, :] - img[..., :-1, :]).abs().mean()
    return dx + dy


net = Extractor().eval()
with torch.no_grad():
    target = [gram(f) for f in net(make_texture(SIZE))]
    scale = [t.square().mean() for t in target]

image = torch.rand(1, 3, SIZE, SIZE, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.04)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)

trace = []
for step in range(STEPS):
    opt.zero_grad()
    feats = net(image)
    style = sum(((gram(f) - t) ** 2).mean() / s
                for f, t, s in zip(feats, target, scale))
    loss = style + 0.05 * total_variation(image)
    loss.backward()
    opt.step()
    sched.step()
    with torch.no_grad():
        image.clamp_(0, 1)
    if step % 40 == 0:
        trace.append(style.item())

print('style loss:', ' '.join(f'{s:.3f}' for s in trace))
print(f'final {style.item():.4f}  mean colour', [round(c, 3) for c in image.detach().mean((0, 2, 3)).tolist()])
"""
CURED = r"""
# texture synthesis: match Gram matrices of a fixed feature extractor
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(3)

SIZE = 128
STEPS = 280


def make_texture(size):
    ax = torch.linspace(0, 1, size)
    y, x = torch.meshgrid(ax, ax, indexing='ij')
    r = 0.5 + 0.5 * torch.sin(40 * x + 6 * torch.sin(9 * y))
    g = 0.5 + 0.5 * torch.cos(35 * (x + y))
    b = (torch.rand(size, size) > 0.7).float()
    return torch.stack([r, g, b]).unsqueeze(0)


class Extractor(nn.Module):
    '''VGG-like stack with fixed weights; returns the activations for Gram matrices'''

    def __init__(self, widths=(24, 48, 96)):
        super().__init__()
        blocks, c = [], 3
        for w in widths:
            blocks.append(nn.Sequential(
                nn.Conv2d(c, w, 3, padding=1), nn.ReLU(),
                nn.Conv2d(w, w, 3, padding=1), nn.ReLU()))
            c = w
        self.blocks = nn.ModuleList(blocks)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.orthogonal_(m.weight, gain=1.4)
                nn.init.zeros_(m.bias)

    def forward(self, img):
        feats = []
        h = (img - 0.5) / 0.25
        for i, block in enumerate(self.blocks):
            if i:
                h = F.avg_pool2d(h, 2)
            h = block(h)
            feats.append(h)
        return feats


def gram(f):
    b, c, h, w = f.shape
    m = f.reshape(b, c, h * w)
    return m @ m.transpose(1, 2) / (h * w)


def total_variation(img):
    dx = (img[..., 1:] - img[..., :-1]).abs().mean()
    dy = (img[..., 1:, :] - img[..., :-1, :]).abs().mean()
    return dx + dy


net = Extractor().eval().requires_grad_(False)
with torch.no_grad():
    target = [gram(f) for f in net(make_texture(SIZE))]
    scale = [t.square().mean() for t in target]

image = torch.rand(1, 3, SIZE, SIZE, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.04)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, STEPS)

trace = []
for step in range(STEPS):
    opt.zero_grad()
    feats = net(image)
    style = sum(((gram(f) - t) ** 2).mean() / s
                for f, t, s in zip(feats, target, scale))
    loss = style + 0.05 * total_variation(image)
    loss.backward()
    opt.step()
    sched.step()
    with torch.no_grad():
        image.clamp_(0, 1)
    if step % 40 == 0:
        trace.append(style.item())

print('style loss:', ' '.join(f'{s:.3f}' for s in trace))
print(f'final {style.item():.4f}  mean colour', [round(c, 3) for c in image.detach().mean((0, 2, 3)).tolist()])
"""
