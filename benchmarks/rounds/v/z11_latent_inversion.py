NAME = 'Fits a small image generator, then inverts it by optimising latent codes with several restarts.'
FAULT = 'The frozen generator still has requires_grad on its weights, so each backward pass of the inversion also computes and accumulates weight gradients that nobody uses.'
CURE = 'Switch off requires_grad for the generator after pretraining.'
KIND = 'time'
FAULT_LINES = ['loss.backward()', 'return gen.eval()', 'opt = torch.optim.Adam([z], lr=0.08)', 'gen = pretrain(Generator())']
FAULT_CALLS = ['backward', 'linear', 'addmm', 'mm']
FAULTY = r"""import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
RES, LATENT = 32, 96


class SoftBox(torch.autograd.Function):
    '''Clamp to [-b, b]; gradients that push back inside are let through.'''

    @staticmethod
    def forward(ctx, z, bound):
        ctx.save_for_backward(z)
        ctx.bound = bound
        return z.clamp(-bound, bound)

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        outward = ((z > ctx.bound) & (g < 0)) | ((z < -ctx.bound) & (g > 0))
        return g.masked_fill(outward, 0.0), None


class Generator(nn.Module):
    def __init__(self, widths=(768, 1536, 2048)):
        super().__init__()
        layers, d = [], LATENT
        for w in widths:
            layers += [nn.Linear(d, w), nn.LayerNorm(w), nn.GELU()]
            d = w
        self.body = nn.Sequential(*layers)
        self.to_rgb = nn.Linear(d, 3 * RES * RES)

    def forward(self, z):
        return torch.sigmoid(self.to_rgb(self.body(z))).view(-1, 3, RES, RES)


def blobs(codes):
    grid = torch.linspace(-1, 1, RES)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    cx, cy = codes[:, 0].tanh()[:, None, None], codes[:, 1].tanh()[:, None, None]
    rad = 0.15 + 0.2 * codes[:, 2].sigmoid()[:, None, None]
    mask = torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * rad ** 2))
    color = codes[:, 3:6].sigmoid()[:, :, None, None]
    return mask[:, None] * color + (1 - mask[:, None]) * (1 - color) * 0.4


def pretrain(gen, steps=16, batch=48):
    opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
    for step in range(steps):
        z = torch.randn(batch, LATENT)
        loss = F.mse_loss(gen(z), blobs(z))
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt.zero_grad()
    print(f"generator fitted, last loss {loss.item():.4f}")
    return gen.eval()


def multiscale_l2(a, b):
    loss = F.mse_loss(a, b, reduction="none").mean((1, 2, 3))
    for k in (2, 4):
        loss = loss + F.mse_loss(F.avg_pool2d(a, k), F.avg_pool2d(b, k), reduction="none").mean((1, 2, 3))
    return loss


def invert(gen, images, steps, restarts=2, prior=1e-4):
    n = images.shape[0]
    goal = images.repeat_interleave(restarts, 0)
    z = (0.5 * torch.randn(n * restarts, LATENT)).requires_grad_(True)
    opt = torch.optim.Adam([z], lr=0.08)
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = 0.08 * 0.5 * (1 + math.cos(math.pi * step / steps))
        code = SoftBox.apply(z, 2.5)
        per_image = multiscale_l2(gen(code), goal)
        loss = per_image.sum() + prior * z.square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    errors = per_image.detach().view(n, restarts)
    return z.detach().view(n, restarts, LATENT), errors


gen = pretrain(Generator())
photos = blobs(torch.randn(2, LATENT))
latents, errors = invert(gen, photos, steps=600)
best = errors.argmin(1)
for i in range(len(photos)):
    print(f"photo {i}: best error {errors[i, best[i]].item():.4f}  worst {errors[i].max().item():.4f}  "
          f"|z| {latents[i, best[i]].norm().item():.2f}")
"""
CURED = r"""import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(11)
RES, LATENT = 32, 96


class SoftBox(torch.autograd.Function):
    '''Clamp to [-b, b]; gradients that push back inside are let through.'''

    @staticmethod
    def forward(ctx, z, bound):
        ctx.save_for_backward(z)
        ctx.bound = bound
        return z.clamp(-bound, bound)

    @staticmethod
    def backward(ctx, g):
        (z,) = ctx.saved_tensors
        outward = ((z > ctx.bound) & (g < 0)) | ((z < -ctx.bound) & (g > 0))
        return g.masked_fill(outward, 0.0), None


class Generator(nn.Module):
    def __init__(self, widths=(768, 1536, 2048)):
        super().__init__()
        layers, d = [], LATENT
        for w in widths:
            layers += [nn.Linear(d, w), nn.LayerNorm(w), nn.GELU()]
            d = w
        self.body = nn.Sequential(*layers)
        self.to_rgb = nn.Linear(d, 3 * RES * RES)

    def forward(self, z):
        return torch.sigmoid(self.to_rgb(self.body(z))).view(-1, 3, RES, RES)


def blobs(codes):
    grid = torch.linspace(-1, 1, RES)
    yy, xx = torch.meshgrid(grid, grid, indexing="ij")
    cx, cy = codes[:, 0].tanh()[:, None, None], codes[:, 1].tanh()[:, None, None]
    rad = 0.15 + 0.2 * codes[:, 2].sigmoid()[:, None, None]
    mask = torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * rad ** 2))
    color = codes[:, 3:6].sigmoid()[:, :, None, None]
    return mask[:, None] * color + (1 - mask[:, None]) * (1 - color) * 0.4


def pretrain(gen, steps=16, batch=48):
    opt = torch.optim.Adam(gen.parameters(), lr=1e-3)
    for step in range(steps):
        z = torch.randn(batch, LATENT)
        loss = F.mse_loss(gen(z), blobs(z))
        opt.zero_grad()
        loss.backward()
        opt.step()
    opt.zero_grad()
    print(f"generator fitted, last loss {loss.item():.4f}")
    return gen.eval().requires_grad_(False)


def multiscale_l2(a, b):
    loss = F.mse_loss(a, b, reduction="none").mean((1, 2, 3))
    for k in (2, 4):
        loss = loss + F.mse_loss(F.avg_pool2d(a, k), F.avg_pool2d(b, k), reduction="none").mean((1, 2, 3))
    return loss


def invert(gen, images, steps, restarts=2, prior=1e-4):
    n = images.shape[0]
    goal = images.repeat_interleave(restarts, 0)
    z = (0.5 * torch.randn(n * restarts, LATENT)).requires_grad_(True)
    opt = torch.optim.Adam([z], lr=0.08)
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = 0.08 * 0.5 * (1 + math.cos(math.pi * step / steps))
        code = SoftBox.apply(z, 2.5)
        per_image = multiscale_l2(gen(code), goal)
        loss = per_image.sum() + prior * z.square().sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    errors = per_image.detach().view(n, restarts)
    return z.detach().view(n, restarts, LATENT), errors


gen = pretrain(Generator())
photos = blobs(torch.randn(2, LATENT))
latents, errors = invert(gen, photos, steps=600)
best = errors.argmin(1)
for i in range(len(photos)):
    print(f"photo {i}: best error {errors[i, best[i]].item():.4f}  worst {errors[i].max().item():.4f}  "
          f"|z| {latents[i, best[i]].norm().item():.2f}")
"""
