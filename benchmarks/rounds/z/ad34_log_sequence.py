NAME = "Trains a sequence autoencoder with scheduled sampling on server log events and scores unusual sessions."
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
LOOKS = "The decoder runs a GRUCell and the output layer in a Python loop over time steps instead of one nn.GRU call: with scheduled sampling the next input depends on the previous output, so the steps cannot be joined, and the loop's overhead is small beside its products."
GOOD = r'''
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)
rng = np.random.default_rng(4)

TEMPLATES = 220          # distinct log message templates
LENGTH = 20              # events per session
START = TEMPLATES        # begin-of-session symbol


def sessions(n, odd=False):
    """Jobs walk through a fixed sequence of templates with repeats; odd ones jump."""
    step = np.where(rng.random((n, LENGTH)) < 0.75, 1, 0)
    seq = (rng.integers(0, 10, (n, 1)) * 22 + np.cumsum(step, axis=1)) % TEMPLATES
    if odd:
        for row in seq:
            at = rng.choice(LENGTH, 4, replace=False)
            row[at] = rng.integers(0, TEMPLATES, 4)
    return torch.from_numpy(seq)


class LogAutoencoder(nn.Module):
    def __init__(self, emb=32, hidden=192):
        super().__init__()
        self.emb = nn.Embedding(TEMPLATES + 1, emb)
        self.encoder = nn.GRU(emb, hidden, batch_first=True)
        self.squeeze = nn.Linear(hidden, 48)
        self.expand = nn.Linear(48, hidden)
        self.cell = nn.GRUCell(emb, hidden)
        self.head = nn.Linear(hidden, TEMPLATES)

    def forward(self, seq, p_own):
        _, h = self.encoder(self.emb(seq))
        h = torch.tanh(self.expand(self.squeeze(h[0])))
        token = torch.full((len(seq),), START)
        logits = []
        for t in range(seq.shape[1]):
            h = self.cell(self.emb(token), h)
            out = self.head(h)
            logits.append(out)
            # scheduled sampling: sometimes continue from the model's own guess
            own = torch.rand(len(seq)) < p_own
            token = torch.where(own, out.detach().argmax(dim=1), seq[:, t])
        return torch.stack(logits, dim=1)


train = sessions(4000)
normal, strange = sessions(500), sessions(500, odd=True)

model = LogAutoencoder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
batch = 200
step = 0
for epoch in range(4):
    order = torch.randperm(len(train))
    total = 0.0
    for idx in order.split(batch):
        p_own = min(0.5, step / 200)
        seq = train[idx]
        logits = model(seq, p_own)
        loss = F.cross_entropy(logits.flatten(0, 1), seq.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
        step += 1
    print(f"epoch {epoch}: loss {total / (len(train) / batch):.3f}, own inputs {p_own:.2f}")


@torch.no_grad()
def score(seq):
    logits = model(seq, 0.5)
    nll = F.cross_entropy(logits.flatten(0, 1), seq.flatten(), reduction="none")
    return nll.view(seq.shape).mean(dim=1)


model.eval()
a, b = score(normal), score(strange)
auc = (b[:, None] > a[None, :]).float().mean().item()
cut = a.quantile(0.95)
print(f"mean score normal {a.mean().item():.2f}, strange {b.mean().item():.2f}")
print(f"AUC {auc:.3f}, strange sessions found at 5% false alarms {(b > cut).float().mean().item():.2f}")
'''
