NAME = 'Distils a frozen ViT teacher into a small student on freshly augmented views of synthetic images.'
GOOD = r"""import torch
import torch.nn as nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(2024)
torch.set_float32_matmul_precision('high')

IMG, PATCH, CLASSES = 96, 8, 50
N_IMAGES, BATCH, STEPS = 20_000, 512, 90
T = 2.0                                   # distillation temperature
N_TOK = (IMG // PATCH) ** 2
TEACHER = dict(dim=768, depth=12, heads=12)
STUDENT = dict(dim=384, depth=6, heads=6)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, dim * 4), nn.Linear(dim * 4, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d)
        x = x + self.proj(a)
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class TinyViT(nn.Module):
    def __init__(self, dim, depth, heads):
        super().__init__()
        self.embed = nn.Linear(3 * PATCH * PATCH, dim)
        self.pos = nn.Parameter(torch.randn(1, N_TOK, dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, CLASSES)

    def forward(self, img):
        x = self.embed(F.pixel_unshuffle(img, PATCH).flatten(2).transpose(1, 2)) + self.pos
        return self.head(self.norm(self.blocks(x)).mean(1))


with torch.device(device):
    teacher = TinyViT(**TEACHER).to(torch.bfloat16).eval().requires_grad_(False)
    student = TinyViT(**STUDENT)

# images: class pattern + pixel noise, stored as uint8 on the GPU
pattern = F.interpolate(torch.randn(CLASSES, 3, 12, 12, device=device), size=(IMG, IMG), mode='bilinear')
labels = torch.randint(0, CLASSES, (N_IMAGES,), device=device)
images = torch.empty(N_IMAGES, 3, IMG, IMG, dtype=torch.uint8, device=device)
for a in range(0, N_IMAGES, 1000):
    noisy = pattern[labels[a:a + 1000]] + 0.5 * torch.randn_like(pattern[labels[a:a + 1000]])
    images[a:a + 1000] = (noisy * 40 + 128).clamp(0, 255).to(torch.uint8)


def augment(x):
    n = len(x)
    scale = 0.6 + 0.4 * torch.rand(n, device=device)
    shift = (torch.rand(n, 2, device=device) * 2 - 1) * (1 - scale)[:, None]
    flip = torch.randint(0, 2, (n,), device=device) * 2.0 - 1
    theta = torch.zeros(n, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1], theta[:, :, 2] = scale * flip, scale, shift
    x = F.grid_sample(x, F.affine_grid(theta, list(x.shape), align_corners=False), align_corners=False)
    lam = torch.rand(n, 1, 1, 1, device=device) * 0.5
    return torch.lerp(x, x.roll(1, 0), lam)


opt = torch.optim.AdamW(student.parameters(), lr=5e-4, weight_decay=0.05, fused=True)
agree = torch.zeros((), device=device)
for step in range(STEPS):
    idx = torch.randint(0, N_IMAGES, (BATCH,), device=device)
    x = augment((images[idx].float() - 128) / 64)
    with torch.no_grad():
        target = F.log_softmax(teacher(x.bfloat16()).float() * 4 / T, dim=-1)
    with torch.autocast(device, dtype=torch.bfloat16):
        out = student(x)
    loss = F.kl_div(F.log_softmax(out.float() / T, -1), target, log_target=True, reduction='batchmean') * T * T
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    agree += (out.argmax(1) == target.argmax(1)).float().mean()
print(f'KL {loss.item():.4f}, mean agreement with the teacher {agree.item() / STEPS:.3f}')
"""
WHY_GOOD = 'The teacher must be run at every step because each batch is a new random crop, flip and mixup that it has never seen, so its outputs cannot be stored; it runs without gradients in bfloat16.'
SMALL = {"device = 'cuda'": "device = 'cpu'", 'N_IMAGES, BATCH, STEPS = 20_000, 512, 90': 'N_IMAGES, BATCH, STEPS = 2_000, 8, 3', 'TEACHER = dict(dim=768, depth=12, heads=12)': 'TEACHER = dict(dim=96, depth=2, heads=4)', 'STUDENT = dict(dim=384, depth=6, heads=6)': 'STUDENT = dict(dim=48, depth=1, heads=2)'}
