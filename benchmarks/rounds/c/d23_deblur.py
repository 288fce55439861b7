NAME = 'd23_deblur'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import math
import torch
import torch.nn.functional as F

torch.manual_seed(0)

n = 400
g = torch.linspace(-1, 1, n)
truth = ((g[:, None] ** 2 + g[None, :] ** 2) < 0.4).float()
truth = truth + 0.6 * ((g[:, None] - 0.2).abs() < 0.1).float() * (g[None, :].abs() < 0.7).float()

f = torch.fft.fftfreq(n)[:, None]
fr = torch.fft.rfftfreq(n)[None, :]
otf = torch.exp(-2 * math.pi ** 2 * 3.0 ** 2 * (f ** 2 + fr ** 2))


def blur(img):
    return torch.fft.irfft2(torch.fft.rfft2(img) * otf, s=(n, n))


seen = (torch.rand(n, n) > 0.15).float()
data = (blur(truth) + 0.01 * torch.randn(n, n)) * seen
x = data.clone().requires_grad_(True)
opt = torch.optim.LBFGS([x], lr=1.0, max_iter=150, history_size=8, line_search_fn="strong_wolfe",
                        tolerance_grad=1e-9, tolerance_change=1e-12)
calls = 0


def closure():
    global calls
    calls += 1
    opt.zero_grad()
    fit = ((blur(x) - data) * seen).pow(2).sum()
    corner = x[:-1, :-1]
    dv = x[1:, :-1] - corner
    dh = x[:-1, 1:] - corner
    tv = (dv.square() + dh.square() + 1e-4).sqrt().sum()
    loss = fit + 2e-3 * tv
    loss.backward()
    return loss


opt.step(closure)
err = (x.detach() - truth).pow(2).mean().sqrt()
print("evaluations > 100:", calls > 100, "rmse %.4f" % err.item())
"""
