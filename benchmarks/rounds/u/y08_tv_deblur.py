NAME = 'Deblurs a picture with a smoothed total-variation penalty, by a hand-written L-BFGS with a custom autograd blur.'
FAULT = 'The step and gradient-difference vectors of all iterations are kept in lists, though the two-loop recursion uses only the last eight pairs.'
CURE = 'Keep the pairs in deques of length eight.'
KIND = 'memory'
FAULT_LINES = ['s_hist.append(s)', 'y_hist.append(y)', 's_hist, y_hist, rho_hist = [], [], []']
FAULT_CALLS = ['append', 'minimise']

FAULTY = r'''
import torch

torch.set_num_threads(1)
torch.manual_seed(17)

SIDE, MEMORY, ITERS = 540, 8, 560
WEIGHT, EPS, NOISE = 1e-3, 1e-4, 0.01


def scene(n):
    axis = torch.linspace(-1, 1, n)
    y, x = axis[:, None], axis[None, :]
    img = torch.zeros(n, n)
    for i in range(14):
        cx, cy, w, h = torch.rand(4).tolist()
        box = ((x - 1.8 * cx + 0.9).abs() < 0.1 + 0.2 * w) & ((y - 1.8 * cy + 0.9).abs() < 0.1 + 0.2 * h)
        img = torch.where(box, 0.2 + 0.05 * i * torch.ones(()), img)
    disc = (x * x + y * y).sqrt() < 0.3
    return torch.where(disc, 0.9 * torch.ones(()), img)


def gaussian_otf(n, sigma):
    k = torch.fft.fftfreq(n)
    half = torch.fft.rfftfreq(n)
    r2 = k[:, None] ** 2 + half[None, :] ** 2
    return torch.exp(-2 * (3.14159265 * sigma) ** 2 * r2)


class Blur(torch.autograd.Function):
    """Periodic convolution with a symmetric kernel, which is its own adjoint."""

    @staticmethod
    def forward(ctx, img, otf):
        ctx.save_for_backward(otf)
        return torch.fft.irfft2(torch.fft.rfft2(img) * otf, s=img.shape)

    @staticmethod
    def backward(ctx, grad):
        otf, = ctx.saved_tensors
        return torch.fft.irfft2(torch.fft.rfft2(grad) * otf, s=grad.shape), None


OTF = gaussian_otf(SIDE, 3.5)
truth = scene(SIDE)
observed = Blur.apply(truth, OTF) + NOISE * torch.randn(SIDE, SIDE)


def objective(flat):
    img = flat.detach().view(SIDE, SIDE).requires_grad_(True)
    fit = 0.5 * (Blur.apply(img, OTF) - observed).square().sum()
    dx = img[:-1, 1:] - img[:-1, :-1]
    dy = img[1:, :-1] - img[:-1, :-1]
    tv = (dx * dx + dy * dy + EPS ** 2).sqrt().sum()
    value = fit + WEIGHT * tv
    grad, = torch.autograd.grad(value, img)
    return value.item(), grad.flatten()


def direction(grad, s_hist, y_hist, rho_hist):
    q = grad.clone()
    alphas = []
    recent = list(zip(s_hist, y_hist, rho_hist))[-MEMORY:]
    for s, y, rho in reversed(recent):
        a = rho * torch.dot(s, q).item()
        q.add_(y, alpha=-a)
        alphas.append(a)
    if recent:
        s, y, rho = recent[-1]
        q.mul_(1.0 / (rho * torch.dot(y, y).item()))
    for (s, y, rho), a in zip(recent, reversed(alphas)):
        b = rho * torch.dot(y, q).item()
        q.add_(s, alpha=a - b)
    return q.neg_()


def minimise(x, iters):
    s_hist, y_hist, rho_hist = [], [], []
    value, grad = objective(x)
    for it in range(1, iters + 1):
        d = direction(grad, s_hist, y_hist, rho_hist)
        slope = torch.dot(d, grad).item()
        t = 1.0 if s_hist else 0.1 / grad.norm().item()
        for _ in range(12):
            new_value, new_grad = objective(x + t * d)
            if new_value <= value + 1e-4 * t * slope:
                break
            t *= 0.5
        s = t * d
        y = new_grad - grad
        sy = torch.dot(s, y).item()
        if sy > 1e-12:
            s_hist.append(s)
            y_hist.append(y)
            rho_hist.append(1.0 / sy)
        x, value, grad = x + s, new_value, new_grad
        if it % 140 == 0:
            print(f"iteration {it}: objective {value:.2f}")
    return x


start = observed.flatten().clone()
result = minimise(start, ITERS).view(SIDE, SIDE)
psnr = lambda a: -10 * torch.log10((a - truth).square().mean()).item()
print("PSNR blurred:", round(psnr(observed), 2), "restored:", round(psnr(result), 2))
'''

CURED = r'''
from collections import deque

import torch

torch.set_num_threads(1)
torch.manual_seed(17)

SIDE, MEMORY, ITERS = 540, 8, 560
WEIGHT, EPS, NOISE = 1e-3, 1e-4, 0.01


def scene(n):
    axis = torch.linspace(-1, 1, n)
    y, x = axis[:, None], axis[None, :]
    img = torch.zeros(n, n)
    for i in range(14):
        cx, cy, w, h = torch.rand(4).tolist()
        box = ((x - 1.8 * cx + 0.9).abs() < 0.1 + 0.2 * w) & ((y - 1.8 * cy + 0.9).abs() < 0.1 + 0.2 * h)
        img = torch.where(box, 0.2 + 0.05 * i * torch.ones(()), img)
    disc = (x * x + y * y).sqrt() < 0.3
    return torch.where(disc, 0.9 * torch.ones(()), img)


def gaussian_otf(n, sigma):
    k = torch.fft.fftfreq(n)
    half = torch.fft.rfftfreq(n)
    r2 = k[:, None] ** 2 + half[None, :] ** 2
    return torch.exp(-2 * (3.14159265 * sigma) ** 2 * r2)


class Blur(torch.autograd.Function):
    """Periodic convolution with a symmetric kernel, which is its own adjoint."""

    @staticmethod
    def forward(ctx, img, otf):
        ctx.save_for_backward(otf)
        return torch.fft.irfft2(torch.fft.rfft2(img) * otf, s=img.shape)

    @staticmethod
    def backward(ctx, grad):
        otf, = ctx.saved_tensors
        return torch.fft.irfft2(torch.fft.rfft2(grad) * otf, s=grad.shape), None


OTF = gaussian_otf(SIDE, 3.5)
truth = scene(SIDE)
observed = Blur.apply(truth, OTF) + NOISE * torch.randn(SIDE, SIDE)


def objective(flat):
    img = flat.detach().view(SIDE, SIDE).requires_grad_(True)
    fit = 0.5 * (Blur.apply(img, OTF) - observed).square().sum()
    dx = img[:-1, 1:] - img[:-1, :-1]
    dy = img[1:, :-1] - img[:-1, :-1]
    tv = (dx * dx + dy * dy + EPS ** 2).sqrt().sum()
    value = fit + WEIGHT * tv
    grad, = torch.autograd.grad(value, img)
    return value.item(), grad.flatten()


def direction(grad, s_hist, y_hist, rho_hist):
    q = grad.clone()
    alphas = []
    recent = list(zip(s_hist, y_hist, rho_hist))[-MEMORY:]
    for s, y, rho in reversed(recent):
        a = rho * torch.dot(s, q).item()
        q.add_(y, alpha=-a)
        alphas.append(a)
    if recent:
        s, y, rho = recent[-1]
        q.mul_(1.0 / (rho * torch.dot(y, y).item()))
    for (s, y, rho), a in zip(recent, reversed(alphas)):
        b = rho * torch.dot(y, q).item()
        q.add_(s, alpha=a - b)
    return q.neg_()


def minimise(x, iters):
    s_hist, y_hist, rho_hist = (deque(maxlen=MEMORY) for _ in range(3))
    value, grad = objective(x)
    for it in range(1, iters + 1):
        d = direction(grad, s_hist, y_hist, rho_hist)
        slope = torch.dot(d, grad).item()
        t = 1.0 if s_hist else 0.1 / grad.norm().item()
        for _ in range(12):
            new_value, new_grad = objective(x + t * d)
            if new_value <= value + 1e-4 * t * slope:
                break
            t *= 0.5
        s = t * d
        y = new_grad - grad
        sy = torch.dot(s, y).item()
        if sy > 1e-12:
            s_hist.append(s)
            y_hist.append(y)
            rho_hist.append(1.0 / sy)
        x, value, grad = x + s, new_value, new_grad
        if it % 140 == 0:
            print(f"iteration {it}: objective {value:.2f}")
    return x


start = observed.flatten().clone()
result = minimise(start, ITERS).view(SIDE, SIDE)
psnr = lambda a: -10 * torch.log10((a - truth).square().mean()).item()
print("PSNR blurred:", round(psnr(observed), 2), "restored:", round(psnr(result), 2))
'''
