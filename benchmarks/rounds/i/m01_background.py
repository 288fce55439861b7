NAME = 'Separates the static background of a synthetic surveillance clip from moving objects by principal component pursuit (ADMM with singular value thresholding).'
FAULT = 'torch.linalg.svd is called with its default full_matrices=True on a tall pixels-by-frames matrix, so every iteration builds a square pixels-by-pixels U of which only the first columns are used.'
CURE = 'Call torch.linalg.svd(A, full_matrices=False).'
KIND = 'time'
FAULT_LINES = [
    'U, S, Vh = torch.linalg.svd(A)',
    'return (U[:, :r] * S[:r]) @ Vh[:r], r',
]
FAULT_CALLS = [
    'linalg.svd',
    'torch.linalg.svd',
    'svd',
    'linalg_svd',
    'svt',
]
FAULTY = r"""
import torch
torch.set_num_threads(1)
torch.manual_seed(3)

# --- a 48x40 clip, 120 frames: slowly changing light on a fixed scene + a moving square
H, W, n_frames = 48, 40, 120
scene = torch.rand(H * W, 3)
light = torch.stack([torch.ones(n_frames),
                     torch.linspace(0, 1, n_frames),
                     torch.sin(torch.linspace(0, 9, n_frames))])
background = scene @ light
clip = background.clone().view(H, W, n_frames)
for t in range(n_frames):
    r, c = (t // 2) % (H - 8), (3 * t) % (W - 8)
    clip[r:r + 8, c:c + 8, t] += 4.0
M = clip.reshape(H * W, n_frames)


def soft(A, tau):
    return torch.sign(A) * torch.clamp(A.abs() - tau, min=0)


def svt(A, tau):
    # shrink the singular values
    U, S, Vh = torch.linalg.svd(A)
    S = torch.clamp(S - tau, min=0)
    r = int((S > 0).sum())
    return (U[:, :r] * S[:r]) @ Vh[:r], r


def pcp(M, n_iter=60):
    m, n = M.shape
    lam = 1.0 / max(m, n) ** 0.5
    mu = m * n / (4.0 * M.abs().sum())
    L, Sp, Y = torch.zeros_like(M), torch.zeros_like(M), torch.zeros_like(M)
    for it in range(n_iter):
        L, rank = svt(M - Sp + Y / mu, 1.0 / mu)
        Sp = soft(M - L + Y / mu, lam / mu)
        resid = M - L - Sp
        Y = Y + mu * resid
        if it % 10 == 0:
            print(f"{it:3d}  rank {rank:3d}  residual {resid.norm() / M.norm():.2e}")
    return L, Sp


L, Sp = pcp(M)
print(f"background error {float((L - background).norm() / background.norm()):.5f}")
print(f"foreground mass  {float(Sp.abs().sum()):.2f}")
"""
CURED = r"""
import torch
torch.set_num_threads(1)
torch.manual_seed(3)

# --- a 48x40 clip, 120 frames: slowly changing light on a fixed scene + a moving square
H, W, n_frames = 48, 40, 120
scene = torch.rand(H * W, 3)
light = torch.stack([torch.ones(n_frames),
                     torch.linspace(0, 1, n_frames),
                     torch.sin(torch.linspace(0, 9, n_frames))])
background = scene @ light
clip = background.clone().view(H, W, n_frames)
for t in range(n_frames):
    r, c = (t // 2) % (H - 8), (3 * t) % (W - 8)
    clip[r:r + 8, c:c + 8, t] += 4.0
M = clip.reshape(H * W, n_frames)


def soft(A, tau):
    return torch.sign(A) * torch.clamp(A.abs() - tau, min=0)


def svt(A, tau):
    # shrink the singular values
    U, S, Vh = torch.linalg.svd(A, full_matrices=False)
    S = torch.clamp(S - tau, min=0)
    r = int((S > 0).sum())
    return (U[:, :r] * S[:r]) @ Vh[:r], r


def pcp(M, n_iter=60):
    m, n = M.shape
    lam = 1.0 / max(m, n) ** 0.5
    mu = m * n / (4.0 * M.abs().sum())
    L, Sp, Y = torch.zeros_like(M), torch.zeros_like(M), torch.zeros_like(M)
    for it in range(n_iter):
        L, rank = svt(M - Sp + Y / mu, 1.0 / mu)
        Sp = soft(M - L + Y / mu, lam / mu)
        resid = M - L - Sp
        Y = Y + mu * resid
        if it % 10 == 0:
            print(f"{it:3d}  rank {rank:3d}  residual {resid.norm() / M.norm():.2e}")
    return L, Sp


L, Sp = pcp(M)
print(f"background error {float((L - background).norm() / background.norm()):.5f}")
print(f"foreground mass  {float(Sp.abs().sum()):.2f}")
"""
