# Sampling is autoregressive: note t+1 depends on the sampled note t, so the loop stays; each step
# only computes the newest position for a whole batch, with preallocated key/value caches.

NAME = 'g21_melody_decode'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS_LIKE = 'Tokens are generated one by one in a Python loop with attention calls of query length one; generate the sequence in one forward pass.'

GOOD = r'''
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(64)

NOTES, D, HEADS, LAYERS, L = 130, 192, 6, 3, 200       # 128 pitches, rest, hold


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.ff = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def split(self, x):
        b, t, _ = x.shape
        return self.qkv(self.n1(x)).view(b, t, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)

    def forward(self, x):
        q, k, v = self.split(x)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.ff(self.n2(x))

    def step(self, x, ck, cv, t):
        q, k, v = self.split(x)
        ck[:, :, t:t + 1], cv[:, :, t:t + 1] = k, v
        a = F.scaled_dot_product_attention(q, ck[:, :, :t + 1], cv[:, :, :t + 1])
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.ff(self.n2(x))


class Melody(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.pos = nn.Embedding(NOTES, D), nn.Embedding(L, D)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm, self.out = nn.LayerNorm(D), nn.Linear(D, NOTES)

    def forward(self, ids):
        x = self.emb(ids) + self.pos.weight[:ids.shape[1]]
        for l in self.layers:
            x = l(x)
        return self.out(self.norm(x))

    @torch.inference_mode()
    def compose(self, first, temp=0.9):
        b = len(first)
        cache = [torch.zeros(2, b, HEADS, L, D // HEADS) for _ in self.layers]
        song = torch.empty(b, L, dtype=torch.long)
        song[:, 0] = first
        for t in range(L - 1):
            x = self.emb(song[:, t:t + 1]) + self.pos.weight[t]
            for l, c in zip(self.layers, cache):
                x = l.step(x, c[0], c[1], t)
            p = F.softmax(self.out(self.norm(x))[:, 0] / temp, 1)
            song[:, t + 1] = torch.multinomial(p, 1).squeeze(1)
        return song


def folk_tune(b, n):
    scale = torch.tensor([60, 62, 64, 65, 67, 69, 71, 72])
    walk = torch.randint(-1, 2, (b, n)).cumsum(1).remainder(8)
    ids = scale[walk]
    ids[:, 3::4] = 129
    return ids


net = Melody()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for it in range(20):
    s = folk_tune(8, L)
    loss = F.cross_entropy(net(s[:, :-1]).flatten(0, 1), s[:, 1:].flatten())
    opt.zero_grad(); loss.backward(); opt.step()
print("train loss %.3f" % loss.item())

net.eval()
songs = net.compose(torch.full((72,), 60))
print("holds on every 4th slot: %.3f" % (songs[:, 3::4] == 129).float().mean().item())
print("distinct pitches per song: %.1f" % torch.tensor([len(s.unique()) for s in songs]).float().mean().item())
'''
