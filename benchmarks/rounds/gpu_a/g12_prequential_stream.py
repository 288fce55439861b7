NAME = 'Online learning of a ViT-B on a drifting image stream, test-then-train with 16 images at a time.'
GOOD = r"""import torch
import torch.nn as nn
import torch.nn.functional as F
import math

device = 'cuda'
torch.manual_seed(8)
torch.set_float32_matmul_precision('high')

D, DEPTH, HEADS = 768, 12, 12
SIZE, P, CLASSES = 224, 16, 20
ARRIVE = 16                  # images per arrival, fixed by the benchmark
N_ARRIVALS = 420
DRIFT_PERIOD = 300


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)

    def forward(self, x):
        B, N, _ = x.shape
        q, k, v = self.qkv(x).view(B, N, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.proj(y.transpose(1, 2).reshape(B, N, D))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(3 * P * P, D)
        self.pos = nn.Parameter(torch.randn(1, (SIZE // P) ** 2, D) * 0.02)
        self.att = nn.ModuleList([Attention() for _ in range(DEPTH)])
        self.mlp = nn.ModuleList([nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
                                  for _ in range(DEPTH)])
        self.ln1 = nn.ModuleList([nn.LayerNorm(D) for _ in range(DEPTH)])
        self.ln2 = nn.ModuleList([nn.LayerNorm(D) for _ in range(DEPTH)])
        self.head = nn.Sequential(nn.LayerNorm(D), nn.Linear(D, CLASSES))

    def forward(self, img):
        x = self.patch(F.pixel_unshuffle(img, P).flatten(2).transpose(1, 2)) + self.pos
        for att, mlp, ln1, ln2 in zip(self.att, self.mlp, self.ln1, self.ln2):
            x = x + att(ln1(x))
            x = x + mlp(ln2(x))
        return self.head(x.mean(1))


# two sets of class patterns; the stream turns slowly from one to the other
low = torch.randn(2, CLASSES, 3, 7, 7, device=device)
pat_a, pat_b = (F.interpolate(p, size=(SIZE, SIZE), mode='bilinear') for p in low)

def arrive(t):
    y = torch.randint(0, CLASSES, (ARRIVE,), device=device)
    w = 0.5 - 0.5 * math.cos(2 * math.pi * t / DRIFT_PERIOD)
    x = (1 - w) * pat_a[y] + w * pat_b[y]
    return x + 0.7 * torch.randn_like(x), y


with torch.device(device):
    model = Encoder()
opt = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, fused=True)
correct = torch.zeros(N_ARRIVALS, device=device)
losses = torch.zeros(N_ARRIVALS, device=device)

for t in range(N_ARRIVALS):
    x, y = arrive(t)
    with torch.autocast(device, dtype=torch.bfloat16):
        logits = model(x)
    # test: these weights have not seen the batch yet
    correct[t] = (logits.argmax(1) == y).float().mean()
    # then train: one update per arrival
    loss = F.cross_entropy(logits.float(), y)
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
    losses[t] = loss.detach()

acc = correct.cpu()
for part in acc.chunk(4):
    print(f'prequential accuracy {part.mean():.3f}')
print(f'overall {acc.mean():.3f}, mean loss {losses.mean().item():.3f}')
"""
WHY_GOOD = 'The prequential protocol fixes the batch of 16: each batch must be predicted with the weights updated by all earlier batches, so batches cannot be merged; the predictions already come from the training forward pass.'
SMALL = {"device = 'cuda'": "device = 'cpu'", 'D, DEPTH, HEADS = 768, 12, 12': 'D, DEPTH, HEADS = 64, 2, 4', 'SIZE, P, CLASSES = 224, 16, 20': 'SIZE, P, CLASSES = 64, 16, 5', 'ARRIVE = 16 ': 'ARRIVE = 4 ', 'N_ARRIVALS = 420': 'N_ARRIVALS = 12'}
