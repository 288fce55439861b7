NAME = 'Samples note sequences from a transformer language model with a sliding window.'
FAULT = 'At every sampled token the output layer of 18,000 entries runs on all 64 positions of the window, and only the last one is used.'
CURE = 'Apply the output layer to the last position only: model.head(model.encode(window)[:, -1]).'
KIND = 'time'
FAULT_LINES = [
    'logits = model(window)[:, -1]',
    'return self.head(self.encode(ids))',
]
FAULT_CALLS = [
    'MelodyLM.forward',
    'nn.Linear',
    'torch.nn.functional.linear',
    'aten::addmm',
    'aten::linear',
]

FAULTY = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

vocab, width, context = 18_000, 128, 64


class Layer(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class MelodyLM(nn.Module):
    # notes x durations x instruments as one vocabulary
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(context, width)
        self.layers = nn.Sequential(*[Layer(width) for _ in range(3)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab)
        nn.init.normal_(self.head.weight, std=0.3)

    def encode(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.norm(self.layers(x))

    def forward(self, ids):
        return self.head(self.encode(ids))


model = MelodyLM().eval()


@torch.inference_mode()
def generate(ids, n, temperature=1.0, top_k=50):
    for _ in range(n):
        window = ids[:, -context:]
        logits = model(window)[:, -1]
        best, where = (logits / temperature).topk(top_k, dim=-1)
        choice = torch.multinomial(best.softmax(-1), 1)
        ids = torch.cat([ids, where.gather(1, choice)], dim=1)
    return ids


prompt = torch.randint(0, vocab, (6, context))
out = generate(prompt, 165)
new = out[:, context:]
print("distinct", new.unique().numel(), "sum", int(new.sum()), "first", new[0, :6].tolist())
"""

CURED = r"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(77)

vocab, width, context = 18_000, 128, 64


class Layer(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(self.n2(x))


class MelodyLM(nn.Module):
    # notes x durations x instruments as one vocabulary
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(vocab, width)
        self.pos = nn.Embedding(context, width)
        self.layers = nn.Sequential(*[Layer(width) for _ in range(3)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab)
        nn.init.normal_(self.head.weight, std=0.3)

    def encode(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.shape[1]))
        return self.norm(self.layers(x))

    def forward(self, ids):
        return self.head(self.encode(ids))


model = MelodyLM().eval()


@torch.inference_mode()
def generate(ids, n, temperature=1.0, top_k=50):
    for _ in range(n):
        window = ids[:, -context:]
        logits = model.head(model.encode(window)[:, -1])
        best, where = (logits / temperature).topk(top_k, dim=-1)
        choice = torch.multinomial(best.softmax(-1), 1)
        ids = torch.cat([ids, where.gather(1, choice)], dim=1)
    return ids


prompt = torch.randint(0, vocab, (6, context))
out = generate(prompt, 165)
new = out[:, context:]
print("distinct", new.unique().numel(), "sum", int(new.sum()), "first", new[0, :6].tolist())
"""
