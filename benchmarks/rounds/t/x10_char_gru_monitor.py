NAME = 'Trains a character GRU language model with a monitor that keeps gradient statistics.'
FAULT = "The monitor computes quantiles and histograms of all parameters' gradients at every step, though only those of every 25th step are ever kept and printed."
CURE = 'Let the monitor compute the statistics only at the steps whose result is kept.'
KIND = 'time'
FAULT_LINES = ['row = {name: self.describe(p.grad) for name, p in self.params}', 'monitor.update(step)', 'spread = torch.quantile(flat, self.levels)', 'counts = torch.histc(flat / (flat.abs().max() + 1e-12), bins=40, min=-1, max=1)']
FAULT_CALLS = ['quantile', 'histc', 'update', 'describe']
FAULTY = r"""import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(30)

TEXT_LEN, SEQ, BATCH, EVERY = 40_000, 48, 12, 25
ALPHABET = "abcdefghijklmnopqrstuvwxyz .,"


def make_text():
    words = ["".join(ALPHABET[j] for j in torch.randint(0, 26, (int(n),))) for n in torch.randint(2, 8, (300,))]
    ranks = torch.arange(1, 301).float().reciprocal()
    picks = torch.multinomial(ranks, TEXT_LEN // 5, replacement=True).tolist()
    text = " ".join(words[k] + ("," if k % 17 == 0 else "") for k in picks)
    return torch.tensor([ALPHABET.index(ch) for ch in text[:TEXT_LEN]])


class CharGRU(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET), 48)
        self.gru = nn.GRU(48, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(ALPHABET))

    def forward(self, ids):
        states, _ = self.gru(self.emb(ids))
        return self.out(states)


class GradientMonitor:
    def __init__(self, model, every):
        self.params = list(model.named_parameters())
        self.every = every
        self.levels = torch.tensor([0.01, 0.25, 0.5, 0.75, 0.99])
        self.kept = []

    def describe(self, grad):
        flat = grad.detach().flatten()
        spread = torch.quantile(flat, self.levels)
        counts = torch.histc(flat / (flat.abs().max() + 1e-12), bins=40, min=-1, max=1)
        share = counts / counts.sum()
        entropy = -(share * (share + 1e-9).log()).sum().item()
        return {"norm": flat.norm().item(), "iqr": (spread[3] - spread[1]).item(), "entropy": entropy}

    def update(self, step):
        row = {name: self.describe(p.grad) for name, p in self.params}
        if step % self.every == 0:
            self.kept.append((step, row))

    def report(self):
        for step, row in self.kept[::4]:
            top = max(row, key=lambda name: row[name]["norm"])
            mean_entropy = sum(r["entropy"] for r in row.values()) / len(row)
            print(f"step {step}: largest norm {row[top]['norm']:.3f} in {top}, mean entropy {mean_entropy:.3f}")


text = make_text()
model = CharGRU()
monitor = GradientMonitor(model, EVERY)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
losses = []

for step in range(1, 401):
    starts = torch.randint(0, len(text) - SEQ - 1, (BATCH,))
    window = text[starts[:, None] + torch.arange(SEQ + 1)]
    logits = model(window[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    monitor.update(step)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())

monitor.report()
for s in range(0, 400, 100):
    print(f"steps {s}-{s + 99}: mean loss {sum(losses[s:s + 100]) / 100:.4f}")
"""
CURED = r"""import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(30)

TEXT_LEN, SEQ, BATCH, EVERY = 40_000, 48, 12, 25
ALPHABET = "abcdefghijklmnopqrstuvwxyz .,"


def make_text():
    words = ["".join(ALPHABET[j] for j in torch.randint(0, 26, (int(n),))) for n in torch.randint(2, 8, (300,))]
    ranks = torch.arange(1, 301).float().reciprocal()
    picks = torch.multinomial(ranks, TEXT_LEN // 5, replacement=True).tolist()
    text = " ".join(words[k] + ("," if k % 17 == 0 else "") for k in picks)
    return torch.tensor([ALPHABET.index(ch) for ch in text[:TEXT_LEN]])


class CharGRU(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.emb = nn.Embedding(len(ALPHABET), 48)
        self.gru = nn.GRU(48, hidden, batch_first=True)
        self.out = nn.Linear(hidden, len(ALPHABET))

    def forward(self, ids):
        states, _ = self.gru(self.emb(ids))
        return self.out(states)


class GradientMonitor:
    def __init__(self, model, every):
        self.params = list(model.named_parameters())
        self.every = every
        self.levels = torch.tensor([0.01, 0.25, 0.5, 0.75, 0.99])
        self.kept = []

    def describe(self, grad):
        flat = grad.detach().flatten()
        spread = torch.quantile(flat, self.levels)
        counts = torch.histc(flat / (flat.abs().max() + 1e-12), bins=40, min=-1, max=1)
        share = counts / counts.sum()
        entropy = -(share * (share + 1e-9).log()).sum().item()
        return {"norm": flat.norm().item(), "iqr": (spread[3] - spread[1]).item(), "entropy": entropy}

    def update(self, step):
        if step % self.every == 0:
            row = {name: self.describe(p.grad) for name, p in self.params}
            self.kept.append((step, row))

    def report(self):
        for step, row in self.kept[::4]:
            top = max(row, key=lambda name: row[name]["norm"])
            mean_entropy = sum(r["entropy"] for r in row.values()) / len(row)
            print(f"step {step}: largest norm {row[top]['norm']:.3f} in {top}, mean entropy {mean_entropy:.3f}")


text = make_text()
model = CharGRU()
monitor = GradientMonitor(model, EVERY)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
losses = []

for step in range(1, 401):
    starts = torch.randint(0, len(text) - SEQ - 1, (BATCH,))
    window = text[starts[:, None] + torch.arange(SEQ + 1)]
    logits = model(window[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    monitor.update(step)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    losses.append(loss.item())

monitor.report()
for s in range(0, 400, 100):
    print(f"steps {s}-{s + 99}: mean loss {sum(losses[s:s + 100]) / 100:.4f}")
"""
