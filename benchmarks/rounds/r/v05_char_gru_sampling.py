NAME = 'Trains a character-level GRU language model on made-up verse and samples new lines from it.'
FAULT = 'Sampling runs the GRU over the whole text so far for each new character instead of carrying the hidden state along.'
CURE = 'Feed only the newest character and carry the hidden state from step to step.'
KIND = 'time'
FAULT_LINES = ['logits, _ = model(text)', 'for _ in range(length):', 'out, state = self.gru(self.emb(ids), state)', 'samples = sample_lines(model, n=48, length=240)']
FAULT_CALLS = ['sample_lines', 'forward', 'gru', 'GRU', 'mkldnn_rnn_layer', 'addmm', 'linear']

FAULTY = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
rng = random.Random(5)

WORDS = "moon river silver stone wind over under the a sleeping heron willow and falls slowly night dew".split()
verse = "\n".join(" ".join(rng.choice(WORDS) for _ in range(rng.randint(4, 7))) for _ in range(3000))
chars = sorted(set(verse))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in verse])
split = int(0.95 * len(data))
train_data, valid_data = data[:split], data[split:]


class CharGRU(nn.Module):
    def __init__(self, n_chars, dim=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(n_chars, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, ids, state=None):
        out, state = self.gru(self.emb(ids), state)
        return self.out(out), state


def get_batch(source, batch=48, length=64):
    starts = torch.randint(0, len(source) - length - 1, (batch,))
    idx = starts[:, None] + torch.arange(length + 1)
    chunk = source[idx]
    return chunk[:, :-1], chunk[:, 1:]


@torch.no_grad()
def sample_lines(model, n, length, temperature=0.8):
    model.eval()
    text = torch.full((n, 1), stoi["\n"])
    state = None
    for _ in range(length):
        logits, _ = model(text)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return text[:, 1:]


@torch.no_grad()
def known_word_rate(samples):
    known, total = 0, 0
    for row in samples.tolist():
        for word in "".join(chars[i] for i in row).split()[:-1]:
            known += word in WORDS
            total += 1
    return known / total


model = CharGRU(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for step in range(1, 121):
    model.train()
    x, y = get_batch(train_data)
    logits, _ = model(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 40 == 0:
        model.eval()
        with torch.no_grad():
            x, y = get_batch(valid_data)
            val = F.cross_entropy(model(x)[0].flatten(0, 1), y.flatten())
        print(f"step {step}: train {loss.item():.3f}, valid {val.item():.3f}")

samples = sample_lines(model, n=48, length=240)
print(f"share of known words in the samples: {known_word_rate(samples):.2f}")
print("first sample:", "".join(chars[i] for i in samples[0].tolist()).replace("\n", " / ")[:60])
'''

CURED = r'''
import random
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(5)
rng = random.Random(5)

WORDS = "moon river silver stone wind over under the a sleeping heron willow and falls slowly night dew".split()
verse = "\n".join(" ".join(rng.choice(WORDS) for _ in range(rng.randint(4, 7))) for _ in range(3000))
chars = sorted(set(verse))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in verse])
split = int(0.95 * len(data))
train_data, valid_data = data[:split], data[split:]


class CharGRU(nn.Module):
    def __init__(self, n_chars, dim=48, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(n_chars, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, ids, state=None):
        out, state = self.gru(self.emb(ids), state)
        return self.out(out), state


def get_batch(source, batch=48, length=64):
    starts = torch.randint(0, len(source) - length - 1, (batch,))
    idx = starts[:, None] + torch.arange(length + 1)
    chunk = source[idx]
    return chunk[:, :-1], chunk[:, 1:]


@torch.no_grad()
def sample_lines(model, n, length, temperature=0.8):
    model.eval()
    text = torch.full((n, 1), stoi["\n"])
    state = None
    for _ in range(length):
        logits, state = model(text[:, -1:], state)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1)
        text = torch.cat([text, nxt], dim=1)
    return text[:, 1:]


@torch.no_grad()
def known_word_rate(samples):
    known, total = 0, 0
    for row in samples.tolist():
        for word in "".join(chars[i] for i in row).split()[:-1]:
            known += word in WORDS
            total += 1
    return known / total


model = CharGRU(len(chars))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for step in range(1, 121):
    model.train()
    x, y = get_batch(train_data)
    logits, _ = model(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 40 == 0:
        model.eval()
        with torch.no_grad():
            x, y = get_batch(valid_data)
            val = F.cross_entropy(model(x)[0].flatten(0, 1), y.flatten())
        print(f"step {step}: train {loss.item():.3f}, valid {val.item():.3f}")

samples = sample_lines(model, n=48, length=240)
print(f"share of known words in the samples: {known_word_rate(samples):.2f}")
print("first sample:", "".join(chars[i] for i in samples[0].tolist()).replace("\n", " / ")[:60])
'''
