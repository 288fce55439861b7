NAME = "Reconstructs undersampled multi-coil MRI slices with FISTA and a smoothed total-variation penalty."
FAULT = "Coil maps and k-space come from NumPy as complex128 (mask as float64), so all FFTs and pointwise work run in double precision, which the noise level makes pointless."
CURE = "Convert coil maps, k-space to complex64 and the mask to float32 before the iterations."
KIND = "time"
FAULT_LINES = [
    "sens = torch.from_numpy(maps)",
    "mask = torch.from_numpy(sampling)",
    "    y = torch.from_numpy(kspace)",
    "    x = torch.zeros(N, N, dtype=y.dtype)",
    "    return mask * fft2c(sens * x)",
    "    return (sens.conj() * ifft2c(mask * k)).sum(0)",
]
FAULT_CALLS = ["fft2", "ifft2", "_fft_c2c", "fft_fft2", "fft_ifft2", "mul", "forward_op", "adjoint_op", "fft2c", "ifft2c", "fista"]
FAULTY = r'''import numpy as np
import torch

torch.set_num_threads(1)
torch.manual_seed(0)
rs = np.random.RandomState(0)

N, COILS, SLICES, ITERS = 224, 8, 6, 90
yy, xx = np.mgrid[-1:1:N * 1j, -1:1:N * 1j]


def phantom(k):
    """Head-like ellipses; they drift a little from slice to slice."""
    img = np.zeros((N, N))
    ell = [(1.0, .69, .92, 0, 0, 0), (-.6, .66, .87, 0, -.02, 0), (-.2, .11, .31, .22, 0, -18),
           (-.2, .16, .41, -.22, 0, 18), (.3, .21, .25, 0, .35, 0), (.2, .05, .05, 0, .1, 0),
           (.25, .05, .05, 0, -.1, 0), (.2, .05, .02, -.08, -.6, 0), (.2, .02, .05, .06, -.6, 0)]
    for amp, a, b, x0, y0, deg in ell:
        t = np.deg2rad(deg + 3 * k)
        u = (xx - x0 - .02 * k) * np.cos(t) + (yy - y0) * np.sin(t)
        v = -(xx - x0 - .02 * k) * np.sin(t) + (yy - y0) * np.cos(t)
        img[(u / a) ** 2 + (v / b) ** 2 <= 1] += amp
    return img * np.exp(1j * .4 * (xx + yy * k / 3))


def coil_maps():
    maps = []
    for c in range(COILS):
        ang = 2 * np.pi * c / COILS
        d2 = (xx - 1.2 * np.cos(ang)) ** 2 + (yy - 1.2 * np.sin(ang)) ** 2
        maps.append(np.exp(-d2 / 1.6) * np.exp(1j * (ang + .5 * xx * np.cos(ang))))
    maps = np.stack(maps)
    return maps / np.sqrt((np.abs(maps) ** 2).sum(0, keepdims=True))


maps = coil_maps()
sampling = np.zeros((1, N, N))
sampling[:, :, rs.rand(N) < .28] = 1
sampling[:, :, N // 2 - 12:N // 2 + 12] = 1
sampling = np.fft.ifftshift(sampling, axes=(-2, -1))

sens = torch.from_numpy(maps)
mask = torch.from_numpy(sampling)


def fft2c(x):
    return torch.fft.fft2(x, norm="ortho")


def ifft2c(k):
    return torch.fft.ifft2(k, norm="ortho")


def forward_op(x):
    return mask * fft2c(sens * x)


def adjoint_op(k):
    return (sens.conj() * ifft2c(mask * k)).sum(0)


def tv_grad(x, eps=1e-3):
    dx = torch.roll(x, -1, 0) - x
    dy = torch.roll(x, -1, 1) - x
    mag = torch.sqrt(dx.abs() ** 2 + dy.abs() ** 2 + eps)
    dx, dy = dx / mag, dy / mag
    return torch.roll(dx, 1, 0) - dx + torch.roll(dy, 1, 1) - dy


def fista(y, lam=2.5e-3, step=0.9):
    x = torch.zeros(N, N, dtype=y.dtype)
    z, t = x, 1.0
    for it in range(ITERS):
        grad = adjoint_op(forward_op(z) - y) + lam * tv_grad(z)
        x_new = z - step * grad
        t_new = (1 + (1 + 4 * t * t) ** 0.5) / 2
        z = x_new + (t - 1) / t_new * (x_new - x)
        x, t = x_new, t_new
    return x


def psnr(a, b):
    return 10 * np.log10(b.max() ** 2 / np.mean((a - b) ** 2))


print(f"acceleration {1 / sampling.mean():.2f}x, {COILS} coils, {SLICES} slices")
for s in range(SLICES):
    truth = phantom(s)
    full = np.fft.fft2(maps * truth, norm="ortho")
    kspace = sampling * (full + .01 * (rs.randn(*full.shape) + 1j * rs.randn(*full.shape)))
    y = torch.from_numpy(kspace)
    zero_filled = adjoint_op(y).abs().numpy()
    rec = fista(y).abs().numpy()
    print(f"slice {s}: zero-filled {psnr(zero_filled, np.abs(truth)):.2f} dB -> FISTA {psnr(rec, np.abs(truth)):.2f} dB")
'''
CURED = FAULTY.replace("sens = torch.from_numpy(maps)", "sens = torch.from_numpy(maps).to(torch.complex64)").replace(
    "mask = torch.from_numpy(sampling)", "mask = torch.from_numpy(sampling).float()").replace(
    "    y = torch.from_numpy(kspace)", "    y = torch.from_numpy(kspace).to(torch.complex64)")
