NAME = 'Trains a pure-bfloat16 decoder language model with rotary positions on synthetic nucleotide k-mers, context 2048.'
FAULT = 'The float32 rotary tables promote queries and keys to float32 and the values are cast up to match, so attention runs in float32 without the flash kernel.'
CURE = 'Cast the rotated queries and keys back to the dtype of the model.'
KIND = 'time'
FAULT_LINES = ['return x * cos + torch.cat([-x2, x1], dim=-1) * sin', 'att = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)', 'q, k = rope(q, cos, sin), rope(k, cos, sin)', 'loss.backward()']
FAULT_CALLS = ['scaled_dot_product_attention', 'aten::_efficient_attention_forward', 'aten::_scaled_dot_product_efficient_attention', 'aten::_scaled_dot_product_efficient_attention_backward', 'aten::mul', 'rope', 'backward']
FAULTY = r"""import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass

device = 'cuda'
torch.manual_seed(7)

@dataclass
class Config:
    vocab: int = 4096          # 6-mers
    dim: int = 1024
    n_layers: int = 10
    n_heads: int = 16
    ctx: int = 2048

cfg = Config()
BATCH, STEPS = 8, 28


def rope_tables(ctx, hd):
    inv = 10000.0 ** (-torch.arange(0, hd, 2, device=device).float() / hd)
    ang = torch.outer(torch.arange(ctx, device=device).float(), inv)
    ang = torch.cat([ang, ang], dim=-1)
    return ang.cos(), ang.sin()


def rope(x, cos, sin):
    x1, x2 = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-x2, x1], dim=-1) * sin


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.h = c.n_heads
        self.norm1, self.norm2 = nn.RMSNorm(c.dim), nn.RMSNorm(c.dim)
        self.wqkv = nn.Linear(c.dim, 3 * c.dim, bias=False)
        self.wo = nn.Linear(c.dim, c.dim, bias=False)
        self.gate_up = nn.Linear(c.dim, 2 * 2816, bias=False)
        self.down = nn.Linear(2816, c.dim, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        qkv = self.wqkv(self.norm1(x)).view(B, T, 3, self.h, C // self.h)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        # sdpa wants one dtype for all three
        att = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)
        x = x + self.wo(att.transpose(1, 2).reshape(B, T, C).to(x.dtype))
        g, u = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(g) * u)


class GenomeLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.emb = nn.Embedding(c.vocab, c.dim)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.n_layers)])
        self.norm = nn.RMSNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        self.apply(lambda m: isinstance(m, (nn.Linear, nn.Embedding)) and nn.init.normal_(m.weight, std=0.02))

    def forward(self, ids, cos, sin):
        x = self.emb(ids)
        for blk in self.blocks:
            x = blk(x, cos, sin)
        return self.head(self.norm(x))


# "genome": motifs of 32 tokens repeated in random order
motifs = torch.randint(0, cfg.vocab, (400, 32), device=device)
genome = motifs[torch.randint(0, 400, (50_000,), device=device)].flatten()

with torch.device(device):
    model = GenomeLM(cfg).to(torch.bfloat16)
cos, sin = rope_tables(cfg.ctx, cfg.dim // cfg.n_heads)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
print(f'{sum(p.numel() for p in model.parameters()) / 1e6:.0f} M parameters')

offsets = torch.arange(cfg.ctx + 1, device=device)
losses = []
for step in range(STEPS):
    start = torch.randint(0, genome.numel() - cfg.ctx - 1, (BATCH, 1), device=device)
    chunk = genome[start + offsets]
    logits = model(chunk[:, :-1], cos, sin)
    loss = F.cross_entropy(logits.float().view(-1, cfg.vocab), chunk[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    losses.append(loss.detach())

losses = torch.stack(losses)
print('first', round(losses[0].item(), 3), 'last', round(losses[-1].item(), 3))
"""
CURED = r"""import torch
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass

device = 'cuda'
torch.manual_seed(7)

@dataclass
class Config:
    vocab: int = 4096          # 6-mers
    dim: int = 1024
    n_layers: int = 10
    n_heads: int = 16
    ctx: int = 2048

cfg = Config()
BATCH, STEPS = 8, 28


def rope_tables(ctx, hd):
    inv = 10000.0 ** (-torch.arange(0, hd, 2, device=device).float() / hd)
    ang = torch.outer(torch.arange(ctx, device=device).float(), inv)
    ang = torch.cat([ang, ang], dim=-1)
    return ang.cos(), ang.sin()


def rope(x, cos, sin):
    x1, x2 = x.chunk(2, dim=-1)
    return (x * cos + torch.cat([-x2, x1], dim=-1) * sin).to(x.dtype)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.h = c.n_heads
        self.norm1, self.norm2 = nn.RMSNorm(c.dim), nn.RMSNorm(c.dim)
        self.wqkv = nn.Linear(c.dim, 3 * c.dim, bias=False)
        self.wo = nn.Linear(c.dim, c.dim, bias=False)
        self.gate_up = nn.Linear(c.dim, 2 * 2816, bias=False)
        self.down = nn.Linear(2816, c.dim, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.shape
        qkv = self.wqkv(self.norm1(x)).view(B, T, 3, self.h, C // self.h)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q, k = rope(q, cos, sin), rope(k, cos, sin)
        # sdpa wants one dtype for all three
        att = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)
        x = x + self.wo(att.transpose(1, 2).reshape(B, T, C).to(x.dtype))
        g, u = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.silu(g) * u)


class GenomeLM(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.emb = nn.Embedding(c.vocab, c.dim)
        self.blocks = nn.ModuleList([Block(c) for _ in range(c.n_layers)])
        self.norm = nn.RMSNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        self.apply(lambda m: isinstance(m, (nn.Linear, nn.Embedding)) and nn.init.normal_(m.weight, std=0.02))

    def forward(self, ids, cos, sin):
        x = self.emb(ids)
        for blk in self.blocks:
            x = blk(x, cos, sin)
        return self.head(self.norm(x))


# "genome": motifs of 32 tokens repeated in random order
motifs = torch.randint(0, cfg.vocab, (400, 32), device=device)
genome = motifs[torch.randint(0, 400, (50_000,), device=device)].flatten()

with torch.device(device):
    model = GenomeLM(cfg).to(torch.bfloat16)
cos, sin = rope_tables(cfg.ctx, cfg.dim // cfg.n_heads)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
print(f'{sum(p.numel() for p in model.parameters()) / 1e6:.0f} M parameters')

offsets = torch.arange(cfg.ctx + 1, device=device)
losses = []
for step in range(STEPS):
    start = torch.randint(0, genome.numel() - cfg.ctx - 1, (BATCH, 1), device=device)
    chunk = genome[start + offsets]
    logits = model(chunk[:, :-1], cos, sin)
    loss = F.cross_entropy(logits.float().view(-1, cfg.vocab), chunk[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    losses.append(loss.detach())

losses = torch.stack(losses)
print('first', round(losses[0].item(), 3), 'last', round(losses[-1].item(), 3))
"""
SMALL = {"device = 'cuda'": "device = 'cpu'", 'vocab: int = 4096': 'vocab: int = 128', 'dim: int = 1024': 'dim: int = 64', 'n_layers: int = 10': 'n_layers: int = 2', 'n_heads: int = 16': 'n_heads: int = 4', 'ctx: int = 2048': 'ctx: int = 64', 'BATCH, STEPS = 8, 28': 'BATCH, STEPS = 4, 3'}
