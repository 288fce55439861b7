NAME = 'Embedding of sensor windows with a GRU and clustering'
FAULT = "The last time step is kept as a view of the whole output sequence, so every batch's full (batch, time, hidden) tensor stays alive."
CURE = 'Copy the slice (out[:, -1].clone()), or use the returned final hidden state.'
KIND = 'memory'
FAULT_LINES = [
    'embeddings.append(out[:, -1])',
    'out, _ = encoder(xb)',
]
FAULT_CALLS = ['GRU.forward', 'aten::gru']
FAULTY = r"""import numpy as np
import torch
from torch import nn
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

torch.set_num_threads(1)
torch.manual_seed(3)
np.random.seed(3)

T, C, H = 400, 4, 64


def windows(n):
    kind = torch.randint(0, 4, (n,))
    freq = torch.tensor([0.02, 0.05, 0.09, 0.14])[kind].view(-1, 1, 1)
    phase = torch.rand(n, 1, C) * 6.28
    t = torch.arange(T).view(1, T, 1)
    x = torch.sin(6.28 * freq * t + phase) + 0.1 * torch.randn(n, T, C)
    return x, kind


encoder = nn.GRU(C, H, batch_first=True)
head = nn.Linear(H, 4)

# short supervised warm-up on a small labelled set
x_lab, y_lab = windows(512)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
for it in range(70):
    idx = torch.randint(0, len(x_lab), (64,))
    start = torch.randint(0, T - 80, (1,)).item()
    _, h = encoder(x_lab[idx, start:start + 80])
    loss = nn.functional.cross_entropy(head(h[-1]), y_lab[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("warm-up loss", round(loss.item(), 3))

# embed the unlabelled stream
encoder.eval()
embeddings, kinds = [], []
with torch.no_grad():
    for _ in range(80):
        xb, kb = windows(100)
        out, _ = encoder(xb)
        embeddings.append(out[:, -1])
        kinds.append(kb)

Z = torch.cat(embeddings)
kinds = torch.cat(kinds)
Z = (Z - Z.mean(0)) / (Z.std(0) + 1e-6)
print("embedding matrix", tuple(Z.shape))

km = KMeans(n_clusters=4, n_init=3, random_state=0).fit(Z.numpy())
print("ARI", round(adjusted_rand_score(kinds.numpy(), km.labels_), 3))
for c in range(4):
    print("cluster", c, int((km.labels_ == c).sum()))
"""
CURED = r"""import numpy as np
import torch
from torch import nn
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

torch.set_num_threads(1)
torch.manual_seed(3)
np.random.seed(3)

T, C, H = 400, 4, 64


def windows(n):
    kind = torch.randint(0, 4, (n,))
    freq = torch.tensor([0.02, 0.05, 0.09, 0.14])[kind].view(-1, 1, 1)
    phase = torch.rand(n, 1, C) * 6.28
    t = torch.arange(T).view(1, T, 1)
    x = torch.sin(6.28 * freq * t + phase) + 0.1 * torch.randn(n, T, C)
    return x, kind


encoder = nn.GRU(C, H, batch_first=True)
head = nn.Linear(H, 4)

# short supervised warm-up on a small labelled set
x_lab, y_lab = windows(512)
opt = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=1e-2)
for it in range(70):
    idx = torch.randint(0, len(x_lab), (64,))
    start = torch.randint(0, T - 80, (1,)).item()
    _, h = encoder(x_lab[idx, start:start + 80])
    loss = nn.functional.cross_entropy(head(h[-1]), y_lab[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
print("warm-up loss", round(loss.item(), 3))

# embed the unlabelled stream
encoder.eval()
embeddings, kinds = [], []
with torch.no_grad():
    for _ in range(80):
        xb, kb = windows(100)
        out, _ = encoder(xb)
        embeddings.append(out[:, -1].clone())
        kinds.append(kb)

Z = torch.cat(embeddings)
kinds = torch.cat(kinds)
Z = (Z - Z.mean(0)) / (Z.std(0) + 1e-6)
print("embedding matrix", tuple(Z.shape))

km = KMeans(n_clusters=4, n_init=3, random_state=0).fit(Z.numpy())
print("ARI", round(adjusted_rand_score(kinds.numpy(), km.labels_), 3))
for c in range(4):
    print("cluster", c, int((km.labels_ == c).sum()))
"""
