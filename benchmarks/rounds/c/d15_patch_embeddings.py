NAME = 'd15_patch_embeddings'
FAULT = "The collected class-token features are views of the full token tensor, so every batch's complete hidden states stay alive until the end."
CURE = 'Clone the class-token slice before appending it, so that the rest of the hidden states is freed.'
KIND = 'memory'
FAULT_LINES = (49, 50)
FAULT_CALLS = ('encoder', 'forward', 'layer_norm', 'append')
FAULTY = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.proj(a)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class TinyViT(nn.Module):
    def __init__(self, d=192, patch=4):
        super().__init__()
        self.patch = nn.Conv2d(3, d, patch, stride=patch)
        self.cls = nn.Parameter(torch.randn(1, 1, d) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, 197, d) * 0.02)
        self.block = Block(d, 4)
        self.norm = nn.LayerNorm(d)

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        return self.norm(self.block(x))


def tile_batches(n, bs):
    gen = torch.Generator().manual_seed(1)
    for _ in range(n // bs):
        yield torch.rand(bs, 3, 56, 56, generator=gen)


encoder = TinyViT().eval()
features = []
with torch.inference_mode():
    for img in tile_batches(3520, 16):
        tokens = encoder(img)
        features.append(tokens[:, 0])

feats = torch.cat(features)
feats = feats - feats.mean(0)
_, s, _ = torch.pca_lowrank(feats, q=8)
print(feats.shape, "top singular value %.3f" % s[0].item())
"""
CURED = """\
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, d)
        x = x + self.proj(a)
        return x + self.down(F.gelu(self.up(self.n2(x))))


class TinyViT(nn.Module):
    def __init__(self, d=192, patch=4):
        super().__init__()
        self.patch = nn.Conv2d(3, d, patch, stride=patch)
        self.cls = nn.Parameter(torch.randn(1, 1, d) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, 197, d) * 0.02)
        self.block = Block(d, 4)
        self.norm = nn.LayerNorm(d)

    def forward(self, img):
        x = self.patch(img).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        return self.norm(self.block(x))


def tile_batches(n, bs):
    gen = torch.Generator().manual_seed(1)
    for _ in range(n // bs):
        yield torch.rand(bs, 3, 56, 56, generator=gen)


encoder = TinyViT().eval()
features = []
with torch.inference_mode():
    for img in tile_batches(3520, 16):
        tokens = encoder(img)
        features.append(tokens[:, 0].clone())

feats = torch.cat(features)
feats = feats - feats.mean(0)
_, s, _ = torch.pca_lowrank(feats, q=8)
print(feats.shape, "top singular value %.3f" % s[0].item())
"""
