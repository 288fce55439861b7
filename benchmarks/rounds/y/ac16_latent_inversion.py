NAME = "Recovers images from masked, blurred measurements by optimising latent codes of a trained dense decoder."
FAULT = "Only the latent codes are optimised, but the decoder's weights still require gradients, so every backward pass also computes (and accumulates) all the weight gradients that nobody uses."
CURE = "Freeze the decoder (requires_grad_(False)) before the inversion."
KIND = "time"
FAULT_LINES = ["decoder.eval()", "loss.backward()", "opt = torch.optim.Adam([z], lr=0.05)", "pred = forward_operator(decoder(z), mask)"]
FAULT_CALLS = ["backward", "AddmmBackward0", "mm", "AccumulateGrad", "run_backward", "invert"]
FAULTY = r'''
import time
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(21)
t0 = time.time()

S, ZD = 32, 24
yy, xx = torch.meshgrid(torch.linspace(-1, 1, S), torch.linspace(-1, 1, S), indexing="ij")


def phantoms(n):
    """random sums of soft ellipses"""
    img = torch.zeros(n, S, S)
    for _ in range(3):
        c = torch.rand(n, 2, 1, 1) * 1.2 - 0.6
        r = 0.15 + 0.35 * torch.rand(n, 2, 1, 1)
        d = ((xx - c[:, 0]) / r[:, 0]) ** 2 + ((yy - c[:, 1]) / r[:, 1]) ** 2
        img += torch.rand(n, 1, 1) * torch.sigmoid(6 * (1 - d))
    return img[:, None]


def make_decoder():
    return nn.Sequential(
        nn.Linear(ZD, 512), nn.ReLU(),
        nn.Linear(512, 1536), nn.ReLU(),
        nn.Linear(1536, 1536), nn.ReLU(),
        nn.Linear(1536, S * S), nn.Unflatten(1, (1, S, S)))


def make_encoder():
    return nn.Sequential(
        nn.Conv2d(1, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 4, 2, 1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 8 * 8, ZD))


g = torch.exp(-torch.linspace(-2, 2, 5) ** 2)
KERNEL = (g[:, None] * g[None, :] / g.sum() ** 2)[None, None]


def forward_operator(x, mask):
    return F.conv2d(x, KERNEL, padding=2) * mask


def pretrain(encoder, decoder, steps=40):
    params = list(encoder.parameters()) + list(decoder.parameters())
    opt = torch.optim.Adam(params, lr=2e-3)
    for step in range(steps):
        x = phantoms(32)
        loss = F.mse_loss(decoder(encoder(x)), x)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def invert(decoder, y, mask, steps=450):
    decoder.eval()
    z = torch.zeros(len(y), ZD, requires_grad=True)
    opt = torch.optim.Adam([z], lr=0.05)
    for step in range(steps):
        opt.zero_grad()
        pred = forward_operator(decoder(z), mask)
        loss = ((pred - y) ** 2).sum() / mask.sum() + 1e-4 * z.pow(2).mean()
        loss.backward()
        opt.step()
        if step % 150 == 0:
            print(f"  inversion step {step:3d}  data misfit {loss.item():.5f}")
    with torch.no_grad():
        return decoder(z)


encoder, decoder = make_encoder(), make_decoder()
print("autoencoder loss", round(pretrain(encoder, decoder), 5))

truth = phantoms(8)
mask = (torch.rand(8, 1, S, S) < 0.4).float()
y = forward_operator(truth, mask) + 0.01 * torch.randn(8, 1, S, S) * mask
rec = invert(decoder, y, mask)
mse = F.mse_loss(rec, truth)
print(f"PSNR {(-10 * torch.log10(mse)).item():.2f} dB, baseline {(-10 * torch.log10(truth.var())).item():.2f} dB")
'''.replace("import time\n", "").replace("t0 = time.time()\n", "")
CURED = FAULTY.replace("    decoder.eval()\n", "    decoder.eval()\n    decoder.requires_grad_(False)\n")
