NAME = 'Trains a small transformer that predicts protein secondary structure.'
FAULT = 'nn.MultiheadAttention is called with its default need_weights=True: the averaged attention maps are computed and thrown away, and the fused attention kernel is not used.'
CURE = 'Pass need_weights=False.'
KIND = 'time'
FAULT_LINES = [
    'y, _ = self.attn(y, y, y)',
    'x = layer(x)',
    'logits = net(train_seq[idx])',
    'loss.backward()',
]
FAULT_CALLS = ['attn', 'MultiheadAttention.forward', 'multi_head_attention_forward', 'EncoderLayer.forward', 'aten::softmax', 'aten::_softmax', 'aten::_softmax_backward_data', 'aten::bmm', 'aten::baddbmm', 'aten::mean', 'backward']
FAULTY = r"""
# secondary structure (helix / strand / coil) from sequence crops
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

AMINO, STATES, CROP = 21, 3, 320
D, HEADS, LAYERS = 64, 8, 2
BATCH, STEPS = 8, 60

# ---- toy proteins: Markov chain of states, residue propensities, paired strands ----
propensity = rng.dirichlet(np.full(AMINO, 0.6), STATES)
stay = np.array([0.92, 0.85, 0.80])


def proteins(n, length=CROP):
    state = np.empty((n, length), dtype=np.int64)
    state[:, 0] = rng.integers(0, STATES, n)
    for i in range(1, length):
        move = rng.random(n) > stay[state[:, i - 1]]
        state[:, i] = np.where(move, rng.integers(0, STATES, n), state[:, i - 1])
    cdf = propensity.cumsum(1)[state]
    seq = (rng.random((n, length, 1)) > cdf).sum(-1).clip(0, AMINO - 1)
    return torch.from_numpy(seq), torch.from_numpy(state)


def sinusoids(length, d):
    pos = torch.arange(length).unsqueeze(1)
    freq = torch.exp(-torch.arange(0, d, 2) * (np.log(10000.0) / d))
    out = torch.zeros(length, d)
    out[:, 0::2] = torch.sin(pos * freq)
    out[:, 1::2] = torch.cos(pos * freq)
    return out


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.ReLU(), nn.Linear(2 * D, D))
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x):
        y = self.n1(x)
        y, _ = self.attn(y, y, y)
        x = x + y
        return x + self.ff(self.n2(x))


class FoldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(AMINO, D)
        self.local = nn.Conv1d(D, D, 9, padding=4)
        self.layers = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.head = nn.Linear(D, STATES)
        self.register_buffer('pos', sinusoids(CROP, D))

    def forward(self, seq):
        x = self.embed(seq) + self.pos
        x = x + F.gelu(self.local(x.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def q3(net, seq, state):
    net.eval()
    with torch.no_grad():
        hits = [(net(s).argmax(-1) == t).float().mean().item()
                for s, t in zip(seq.split(BATCH), state.split(BATCH))]
    net.train()
    return float(np.mean(hits))


train_seq, train_state = proteins(400)
test_seq, test_state = proteins(32)
net = FoldNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
losses = []
for step in range(STEPS):
    idx = torch.randint(0, len(train_seq), (BATCH,))
    logits = net(train_seq[idx])
    loss = F.cross_entropy(logits.reshape(-1, STATES), train_state[idx].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())

print(f'loss {np.mean(losses[:5]):.3f} -> {np.mean(losses[-5:]):.3f}')
print(f'Q3 on held-out proteins {q3(net, test_seq, test_state):.3f}')
"""
CURED = r"""
# secondary structure (helix / strand / coil) from sequence crops
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

AMINO, STATES, CROP = 21, 3, 320
D, HEADS, LAYERS = 64, 8, 2
BATCH, STEPS = 8, 60

# ---- toy proteins: Markov chain of states, residue propensities, paired strands ----
propensity = rng.dirichlet(np.full(AMINO, 0.6), STATES)
stay = np.array([0.92, 0.85, 0.80])


def proteins(n, length=CROP):
    state = np.empty((n, length), dtype=np.int64)
    state[:, 0] = rng.integers(0, STATES, n)
    for i in range(1, length):
        move = rng.random(n) > stay[state[:, i - 1]]
        state[:, i] = np.where(move, rng.integers(0, STATES, n), state[:, i - 1])
    cdf = propensity.cumsum(1)[state]
    seq = (rng.random((n, length, 1)) > cdf).sum(-1).clip(0, AMINO - 1)
    return torch.from_numpy(seq), torch.from_numpy(state)


def sinusoids(length, d):
    pos = torch.arange(length).unsqueeze(1)
    freq = torch.exp(-torch.arange(0, d, 2) * (np.log(10000.0) / d))
    out = torch.zeros(length, d)
    out[:, 0::2] = torch.sin(pos * freq)
    out[:, 1::2] = torch.cos(pos * freq)
    return out


class EncoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(D, HEADS, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.ReLU(), nn.Linear(2 * D, D))
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x):
        y = self.n1(x)
        y, _ = self.attn(y, y, y, need_weights=False)
        x = x + y
        return x + self.ff(self.n2(x))


class FoldNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(AMINO, D)
        self.local = nn.Conv1d(D, D, 9, padding=4)
        self.layers = nn.ModuleList(EncoderLayer() for _ in range(LAYERS))
        self.head = nn.Linear(D, STATES)
        self.register_buffer('pos', sinusoids(CROP, D))

    def forward(self, seq):
        x = self.embed(seq) + self.pos
        x = x + F.gelu(self.local(x.transpose(1, 2))).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def q3(net, seq, state):
    net.eval()
    with torch.no_grad():
        hits = [(net(s).argmax(-1) == t).float().mean().item()
                for s, t in zip(seq.split(BATCH), state.split(BATCH))]
    net.train()
    return float(np.mean(hits))


train_seq, train_state = proteins(400)
test_seq, test_state = proteins(32)
net = FoldNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
losses = []
for step in range(STEPS):
    idx = torch.randint(0, len(train_seq), (BATCH,))
    logits = net(train_seq[idx])
    loss = F.cross_entropy(logits.reshape(-1, STATES), train_state[idx].reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())

print(f'loss {np.mean(losses[:5]):.3f} -> {np.mean(losses[-5:]):.3f}')
print(f'Q3 on held-out proteins {q3(net, test_seq, test_state):.3f}')
"""
