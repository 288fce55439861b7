NAME = 'Trains a GRU melody model on synthetic folk tunes and samples new melodies with temperature.'
FAULT = 'Sampling feeds the complete melody so far through the GRU for every new note instead of carrying the hidden state along.'
CURE = 'Keep the hidden state returned by the GRU and feed only the newest note.'
KIND = 'time'
FAULT_LINES = ['logits, _ = model(melody)', 'melody = torch.cat([melody, nxt], dim=1)', 'y, h = self.rnn(self.emb(x), h)']
FAULT_CALLS = ['model', 'GRU', 'gru', 'rnn', 'forward', 'linear']
FAULTY = r"""
import torch, torch.nn as nn, torch.nn.functional as F
import numpy as np
import matplotlib.pyplot as plt
torch.set_num_threads(1)
torch.manual_seed(42); rs = np.random.RandomState(42)

# ---------- synthetic tunes: random walks on a pentatonic scale with repeats ----------
scale = np.array([0, 2, 4, 7, 9])
def tune(length=96):
    deg, out = rs.randint(0, 10), []
    motif = rs.randint(-2, 3, size=8)
    for k in range(length):
        deg = int(np.clip(deg + (motif[k % 8] if rs.rand() < .8 else rs.randint(-3, 4)), 0, 14))
        out.append(12 * (deg // 5) + scale[deg % 5])
    return out
tunes = torch.tensor(np.array([tune() for _ in range(256)]))
N_NOTES = 48
print(tunes.shape, tunes.max().item())

class MelodyNet(nn.Module):
    def __init__(self, n=N_NOTES, emb=32, hid=128):
        super().__init__()
        self.emb = nn.Embedding(n, emb)
        self.rnn = nn.GRU(emb, hid, num_layers=2, batch_first=True)
        self.out = nn.Linear(hid, n)
    def forward(self, x, h=None):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h

model = MelodyNet()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
model.train()
for epoch in range(4):
    perm = torch.randperm(len(tunes))
    running = 0
    for i in range(0, len(tunes), 32):
        batch = tunes[perm[i:i + 32]]
        logits, _ = model(batch[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, N_NOTES), batch[:, 1:].reshape(-1))
        optimizer.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        optimizer.step()
        running += loss.item()
    print('epoch', epoch, 'nll per note', round(running / 8, 4))

@torch.no_grad()
def compose(n_tunes=12, length=224, temperature=0.9):
    model.eval()
    gen = torch.Generator().manual_seed(7)
    melody = torch.randint(0, 12, (n_tunes, 1), generator=gen)
    for _ in range(length):
        logits, _ = model(melody)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1, generator=gen)
        melody = torch.cat([melody, nxt], dim=1)
    return melody

new = compose()
jumps = (new[:, 1:] - new[:, :-1]).abs().float()
print('mean interval of composed tunes', jumps.mean().item(), ' of corpus', (tunes[:, 1:] - tunes[:, :-1]).abs().float().mean().item())
print('share of notes in scale', np.isin(new.numpy() % 12, scale).mean().round(4))
plt.figure(figsize=(8, 2))
plt.imshow(F.one_hot(new[0], N_NOTES).T, aspect='auto', origin='lower', cmap='Greys')
plt.xlabel('step'); plt.ylabel('pitch'); plt.show()
"""
CURED = r"""
import torch, torch.nn as nn, torch.nn.functional as F
import numpy as np
import matplotlib.pyplot as plt
torch.set_num_threads(1)
torch.manual_seed(42); rs = np.random.RandomState(42)

# ---------- synthetic tunes: random walks on a pentatonic scale with repeats ----------
scale = np.array([0, 2, 4, 7, 9])
def tune(length=96):
    deg, out = rs.randint(0, 10), []
    motif = rs.randint(-2, 3, size=8)
    for k in range(length):
        deg = int(np.clip(deg + (motif[k % 8] if rs.rand() < .8 else rs.randint(-3, 4)), 0, 14))
        out.append(12 * (deg // 5) + scale[deg % 5])
    return out
tunes = torch.tensor(np.array([tune() for _ in range(256)]))
N_NOTES = 48
print(tunes.shape, tunes.max().item())

class MelodyNet(nn.Module):
    def __init__(self, n=N_NOTES, emb=32, hid=128):
        super().__init__()
        self.emb = nn.Embedding(n, emb)
        self.rnn = nn.GRU(emb, hid, num_layers=2, batch_first=True)
        self.out = nn.Linear(hid, n)
    def forward(self, x, h=None):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h

model = MelodyNet()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
model.train()
for epoch in range(4):
    perm = torch.randperm(len(tunes))
    running = 0
    for i in range(0, len(tunes), 32):
        batch = tunes[perm[i:i + 32]]
        logits, _ = model(batch[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, N_NOTES), batch[:, 1:].reshape(-1))
        optimizer.zero_grad(); loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        optimizer.step()
        running += loss.item()
    print('epoch', epoch, 'nll per note', round(running / 8, 4))

@torch.no_grad()
def compose(n_tunes=12, length=224, temperature=0.9):
    model.eval()
    gen = torch.Generator().manual_seed(7)
    melody = torch.randint(0, 12, (n_tunes, 1), generator=gen)
    nxt, h = melody, None
    for _ in range(length):
        logits, h = model(nxt, h)
        probs = F.softmax(logits[:, -1] / temperature, dim=-1)
        nxt = torch.multinomial(probs, 1, generator=gen)
        melody = torch.cat([melody, nxt], dim=1)
    return melody

new = compose()
jumps = (new[:, 1:] - new[:, :-1]).abs().float()
print('mean interval of composed tunes', jumps.mean().item(), ' of corpus', (tunes[:, 1:] - tunes[:, :-1]).abs().float().mean().item())
print('share of notes in scale', np.isin(new.numpy() % 12, scale).mean().round(4))
plt.figure(figsize=(8, 2))
plt.imshow(F.one_hot(new[0], N_NOTES).T, aspect='auto', origin='lower', cmap='Greys')
plt.xlabel('step'); plt.ylabel('pitch'); plt.show()
"""
