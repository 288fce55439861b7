NAME = 'd24_byte_lm'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = ()
FAULT_CALLS = ()
GOOD = """\
import copy
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader
from tqdm import tqdm

torch.manual_seed(0)


class Chunks(Dataset):
    def __init__(self, data, block):
        self.data, self.block = data, block

    def __len__(self):
        return (len(self.data) - 1) // self.block

    def __getitem__(self, i):
        s = i * self.block
        return self.data[s:s + self.block], self.data[s + 1:s + self.block + 1]


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, self.h, d // self.h).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self, vocab=64, d=256, layers=3, block=96):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(block, d)
        self.blocks = nn.Sequential(*[Layer(d, 4) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocab)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.head(self.ln(self.blocks(x)))


steps = torch.randint(-3, 4, (16_000,))
text = steps.cumsum(0) % 64
train = DataLoader(Chunks(text[:12_800], 96), batch_size=16, shuffle=True)
valid = DataLoader(Chunks(text[12_800:], 96), batch_size=16)

model = LM()
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 2e-3, total_steps=3 * len(train))

best, best_state, curve = math.inf, None, []
for epoch in range(3):
    model.train()
    for x, y in tqdm(train, leave=False):
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        curve.append(loss.item())
    model.eval()
    with torch.no_grad():
        v = sum(F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() for x, y in valid) / len(valid)
    if v < best:
        best, best_state = v, copy.deepcopy(model.state_dict())

print("train %.3f, best valid %.3f" % (curve[-1], best))
"""
