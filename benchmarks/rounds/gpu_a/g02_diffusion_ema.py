NAME = 'Trains a DiT diffusion model on synthetic latents with an exponential moving average of the weights and samples from the average.'
FAULT = 'The moving average lives on the CPU, so every step copies all weights (half a gigabyte, pageable) from the GPU and waits for it before averaging them on the host.'
CURE = 'Keep the averaged copy on the GPU and update it there.'
KIND = 'time'
FAULT_LINES = ['ema = copy.deepcopy(net).cpu().eval().requires_grad_(False)', 'pe.mul_(decay).add_(p.detach().to(pe.device), alpha=1 - decay)', 'update_ema(ema, net)']
FAULT_CALLS = ['to', 'aten::to', 'aten::_to_copy', 'aten::copy_', 'cudaMemcpyAsync', 'Memcpy DtoH', 'mul_', 'add_', 'update_ema']
FAULTY = r"""import copy, math
import torch
from torch import nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(1)
torch.set_float32_matmul_precision('high')

D, DEPTH, HEADS = 768, 12, 12
LAT, CH, PATCH = 32, 4, 2
BATCH = 192
STEPS = 26
N_TOK = (LAT // PATCH) ** 2

def timestep_embedding(t, dim):
    f = torch.exp(-math.log(10000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    a = t[:, None] * 1000 * f[None]
    return torch.cat([a.cos(), a.sin()], -1)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1 = nn.LayerNorm(D, elementwise_affine=False)
        self.n2 = nn.LayerNorm(D, elementwise_affine=False)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.ada = nn.Linear(D, 6 * D)
        nn.init.zeros_(self.ada.weight); nn.init.zeros_(self.ada.bias)

    def forward(self, x, c):
        s1, b1, g1, s2, b2, g2 = self.ada(c)[:, None].chunk(6, -1)
        h = self.n1(x) * (1 + s1) + b1
        B, N, _ = h.shape
        q, k, v = self.qkv(h).view(B, N, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, D)
        x = x + g1 * self.proj(h)
        return x + g2 * self.mlp(self.n2(x) * (1 + s2) + b2)

class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(CH * PATCH ** 2, D)
        self.pos = nn.Parameter(torch.randn(1, N_TOK, D) * 0.02)
        self.temb = nn.Sequential(nn.Linear(256, D), nn.SiLU(), nn.Linear(D, D), nn.SiLU())
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.out = nn.Linear(D, CH * PATCH ** 2)

    def forward(self, x, t):
        x = F.pixel_unshuffle(x, PATCH).flatten(2).transpose(1, 2)
        x, c = self.inp(x) + self.pos, self.temb(timestep_embedding(t, 256))
        for b in self.blocks:
            x = b(x, c)
        g = LAT // PATCH
        return F.pixel_shuffle(self.out(x).transpose(1, 2).unflatten(2, (g, g)), PATCH)

@torch.no_grad()
def update_ema(avg, model, decay=0.995):
    for pe, p in zip(avg.parameters(), model.parameters()):
        pe.mul_(decay).add_(p.detach().to(pe.device), alpha=1 - decay)

with torch.device(device):
    net = DiT()
ema = copy.deepcopy(net).cpu().eval().requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.0, fused=True)

# "VAE latents": smooth random fields, kept on the GPU
coarse = torch.randn(4096, CH, 4, 4, device=device)
latents = F.interpolate(coarse, size=(LAT, LAT), mode='bicubic')

for it in range(STEPS):
    x0 = latents[torch.randint(0, len(latents), (BATCH,), device=device)]
    noise = torch.randn_like(x0)
    t = torch.rand(BATCH, device=device)
    xt = torch.lerp(x0, noise, t[:, None, None, None])
    with torch.autocast(device, dtype=torch.bfloat16):
        v = net(xt, t)
    loss = F.mse_loss(v.float(), noise - x0)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    update_ema(ema, net)

ema.to(device)
x = torch.randn(64, CH, LAT, LAT, generator=torch.Generator(device).manual_seed(5), device=device)
with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16):
    for i in range(10, 0, -1):
        t = torch.full((64,), i / 10, device=device)
        x = x - ema(x, t).float() / 10
print(f'final loss {loss.item():.4f}, sample std {x.std().item():.4f}')
"""
CURED = r"""import copy, math
import torch
from torch import nn
import torch.nn.functional as F

device = 'cuda'
torch.manual_seed(1)
torch.set_float32_matmul_precision('high')

D, DEPTH, HEADS = 768, 12, 12
LAT, CH, PATCH = 32, 4, 2
BATCH = 192
STEPS = 26
N_TOK = (LAT // PATCH) ** 2

def timestep_embedding(t, dim):
    f = torch.exp(-math.log(10000) * torch.arange(dim // 2, device=t.device) / (dim // 2))
    a = t[:, None] * 1000 * f[None]
    return torch.cat([a.cos(), a.sin()], -1)

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1 = nn.LayerNorm(D, elementwise_affine=False)
        self.n2 = nn.LayerNorm(D, elementwise_affine=False)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.ada = nn.Linear(D, 6 * D)
        nn.init.zeros_(self.ada.weight); nn.init.zeros_(self.ada.bias)

    def forward(self, x, c):
        s1, b1, g1, s2, b2, g2 = self.ada(c)[:, None].chunk(6, -1)
        h = self.n1(x) * (1 + s1) + b1
        B, N, _ = h.shape
        q, k, v = self.qkv(h).view(B, N, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, D)
        x = x + g1 * self.proj(h)
        return x + g2 * self.mlp(self.n2(x) * (1 + s2) + b2)

class DiT(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(CH * PATCH ** 2, D)
        self.pos = nn.Parameter(torch.randn(1, N_TOK, D) * 0.02)
        self.temb = nn.Sequential(nn.Linear(256, D), nn.SiLU(), nn.Linear(D, D), nn.SiLU())
        self.blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.out = nn.Linear(D, CH * PATCH ** 2)

    def forward(self, x, t):
        x = F.pixel_unshuffle(x, PATCH).flatten(2).transpose(1, 2)
        x, c = self.inp(x) + self.pos, self.temb(timestep_embedding(t, 256))
        for b in self.blocks:
            x = b(x, c)
        g = LAT // PATCH
        return F.pixel_shuffle(self.out(x).transpose(1, 2).unflatten(2, (g, g)), PATCH)

@torch.no_grad()
def update_ema(avg, model, decay=0.995):
    for pe, p in zip(avg.parameters(), model.parameters()):
        pe.mul_(decay).add_(p.detach().to(pe.device), alpha=1 - decay)

with torch.device(device):
    net = DiT()
ema = copy.deepcopy(net).eval().requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=1e-4, weight_decay=0.0, fused=True)

# "VAE latents": smooth random fields, kept on the GPU
coarse = torch.randn(4096, CH, 4, 4, device=device)
latents = F.interpolate(coarse, size=(LAT, LAT), mode='bicubic')

for it in range(STEPS):
    x0 = latents[torch.randint(0, len(latents), (BATCH,), device=device)]
    noise = torch.randn_like(x0)
    t = torch.rand(BATCH, device=device)
    xt = torch.lerp(x0, noise, t[:, None, None, None])
    with torch.autocast(device, dtype=torch.bfloat16):
        v = net(xt, t)
    loss = F.mse_loss(v.float(), noise - x0)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    update_ema(ema, net)

ema.to(device)
x = torch.randn(64, CH, LAT, LAT, generator=torch.Generator(device).manual_seed(5), device=device)
with torch.inference_mode(), torch.autocast(device, dtype=torch.bfloat16):
    for i in range(10, 0, -1):
        t = torch.full((64,), i / 10, device=device)
        x = x - ema(x, t).float() / 10
print(f'final loss {loss.item():.4f}, sample std {x.std().item():.4f}')
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'D, DEPTH, HEADS = 768, 12, 12': 'D, DEPTH, HEADS = 96, 2, 3', 'BATCH = 192': 'BATCH = 4', 'STEPS = 26': 'STEPS = 3', 'torch.randn(4096, CH': 'torch.randn(64, CH', 'range(10, 0, -1)': 'range(2, 0, -1)'}
