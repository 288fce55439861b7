NAME = "Optimises a phase-only hologram for three depth planes with angular-spectrum propagation."
FAULT = "The transfer functions come from NumPy as complex128, so the propagated fields, the inverse FFTs and their backward passes all run in double precision though the hologram and the targets are single precision."
CURE = "Convert the transfer functions to complex64 when they are turned into tensors."
KIND = "time"
FAULT_LINES = ["    return torch.from_numpy(np.where(inside, np.exp(1j * kz * z), 0))", "        field = torch.fft.ifft2(spectrum * H[k])", "H = [transfer_function(z) for z in depths]"]
FAULT_CALLS = ["fft_ifft2", "_fft_c2c", "mul", "abs", "transfer_function"]
FAULTY = r'''
import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(7)
rng = np.random.default_rng(7)

N = 512                  # SLM pixels per side
pitch = 8e-6
wavelength = 532e-9
depths = [0.10, 0.12, 0.15]
n_iter = 130


def transfer_function(z):
    fx = np.fft.fftfreq(N, d=pitch)
    FX, FY = np.meshgrid(fx, fx, indexing="ij")
    arg = (1 / wavelength) ** 2 - FX ** 2 - FY ** 2
    kz = 2 * np.pi * np.sqrt(np.maximum(arg, 0))
    # band limit after Matsushima & Shimobaba
    f_lim = 1 / (wavelength * np.sqrt((2 * z / (N * pitch)) ** 2 + 1))
    inside = (np.abs(FX) < f_lim) & (np.abs(FY) < f_lim)
    return torch.from_numpy(np.where(inside, np.exp(1j * kz * z), 0))


def make_target(kind):
    yy, xx = np.mgrid[-1:1:N * 1j, -1:1:N * 1j]
    r = np.hypot(xx, yy)
    if kind == 0:
        img = ((r > 0.35) & (r < 0.45)).astype(np.float32)
    elif kind == 1:
        img = (np.sin(18 * xx) * np.sin(18 * yy) > 0.4).astype(np.float32) * (r < 0.7)
    else:
        img = np.zeros((N, N), dtype=np.float32)
        for _ in range(40):
            a, b = rng.integers(80, N - 100, size=2)
            img[a:a + 14, b:b + 14] = rng.uniform(0.4, 1.0)
    img = torch.from_numpy(img.astype(np.float32))
    return 0.7 * img / img.pow(2).mean().sqrt()


H = [transfer_function(z) for z in depths]
targets = [make_target(k) for k in range(3)]

phase = (2 * np.pi * torch.rand(N, N)).requires_grad_(True)
opt = torch.optim.Adam([phase], lr=0.15)

log = []
for it in range(n_iter):
    opt.zero_grad()
    spectrum = torch.fft.fft2(torch.polar(torch.ones_like(phase), phase))
    loss = 0.0
    for k in range(len(depths)):
        field = torch.fft.ifft2(spectrum * H[k])
        amp = field.abs()
        loss = loss + (amp - targets[k]).pow(2).mean()
    loss.backward()
    opt.step()
    log.append(loss.item())

print(f"loss {log[0]:.3f} -> {log[-1]:.3f}")
with torch.no_grad():
    spectrum = torch.fft.fft2(torch.polar(torch.ones_like(phase), phase))
    for z, h, t in zip(depths, H, targets):
        I = torch.fft.ifft2(spectrum * h).abs() ** 2
        lit = t > 0
        eff = (I[lit].sum() / I.sum()).item()
        contrast = (I[lit].mean() / I[~lit].mean()).item()
        print(f"z = {100 * z:.0f} cm: efficiency {eff:.2f}, contrast {contrast:.1f}")
'''
CURED = FAULTY.replace("return torch.from_numpy(np.where(inside, np.exp(1j * kz * z), 0))", "return torch.from_numpy(np.where(inside, np.exp(1j * kz * z), 0)).to(torch.complex64)")
