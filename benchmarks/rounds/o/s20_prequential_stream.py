NAME = 'Prequential (test-then-train) evaluation on a drifting sensor stream'
FAULT = None
CURE = None
KIND = None
FAULT_LINES = []
FAULT_CALLS = []
WHY_GOOD = 'Batches of 16 with an update after each look inefficient, but the protocol scores each batch with the model that has learnt all earlier ones; the training forward pass also gives the predictions, so nothing is done twice'
GOOD = r"""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)

# Benchmark rules: chunks of 16 readings, each is first predicted, then learnt, one pass
CHUNK, N_CHUNK, D, K = 16, 2000, 96, 5


def drifting_stream(n_chunk, seed):
    gen = torch.Generator().manual_seed(seed)
    W = torch.randn(D, K, generator=gen)
    V = torch.randn(D, K, generator=gen)
    for t in range(n_chunk):
        if t == n_chunk // 2:
            W = W[:, torch.randperm(K, generator=gen)]      # abrupt drift
        mixed = W + 0.5 * np.sin(2 * np.pi * t / 900) * V   # slow drift
        x = torch.randn(CHUNK, D, generator=gen)
        score = x @ mixed + 2.0 * torch.randn(CHUNK, K, generator=gen)
        yield x, score.argmax(1)


class StreamNet(nn.Module):
    def __init__(self, width=448):
        super().__init__()
        self.inp = nn.Linear(D, width)
        self.mid = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
        self.out = nn.Linear(width, K)

    def forward(self, x):
        h = torch.relu(self.inp(x))
        for m in self.mid:
            h = torch.relu(m(h))
        return self.out(h)


net = StreamNet()
opt = torch.optim.SGD(net.parameters(), lr=0.05)

right = torch.zeros(N_CHUNK, dtype=torch.long)
loss_log = torch.zeros(N_CHUNK)
for t, (x, y) in enumerate(drifting_stream(N_CHUNK, seed=40)):
    logits = net(x)
    loss = F.cross_entropy(logits, y)
    # score before the update
    right[t] = (logits.detach().argmax(1) == y).sum()
    loss_log[t] = loss.detach()
    opt.zero_grad()
    loss.backward()
    opt.step()

acc = right.double() / CHUNK
fade, alpha = [], 0.995
num = den = 0.0
for a in acc.tolist():
    num, den = a + alpha * num, 1 + alpha * den
    fade.append(num / den)

print(f"prequential accuracy {acc.mean().item():.4f}")
for lo in range(0, N_CHUNK, 400):
    print(f"chunks {lo:4d}-{lo + 399:4d}: accuracy {acc[lo:lo + 400].mean().item():.4f}  "
          f"loss {loss_log[lo:lo + 400].mean().item():.4f}")
half = N_CHUNK // 2
print(f"faded accuracy before drift {fade[half - 1]:.4f}, 50 chunks after {fade[half + 49]:.4f}, end {fade[-1]:.4f}")
"""
