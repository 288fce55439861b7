"""
number = 77
title = "Sparse gradients for large tables"
family = "word_vectors"
rule = "dense_embedding_gradients"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
steps = 8
words = 20000
width = 32
batch = 64
shown = 5

[sizes.cpu]
steps = 150
words = 100000
width = 64
batch = 1024
shown = 5

[sizes.host_bound]
steps = 60
words = 200000
width = 128
batch = 256
shown = 5

[sizes.balanced]
steps = 60
words = 2000000
width = 256
batch = 4096
shown = 5

[sizes.device_bound]
steps = 40
words = 4000000
width = 256
batch = 65536
shown = 5

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "gradients are dense here too, but the tables hold a few hundred words, and each batch has them all"
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
chosen = torch.randint(0, size.words, (4, size.batch), device=device)
beside = torch.randint(0, size.words, (4, size.batch, 1 + size.shown), device=device)
wanted = torch.zeros(size.batch, 1 + size.shown, device=device)
wanted[:, 0] = 1


class SkipGram(nn.Module):
    """Words and their neighbours; the first one shown is real, the others are drawn."""

    def __init__(self, words, sparse=False):
        super().__init__()
        self.centre = nn.Embedding(words, size.width, sparse=sparse)
        self.context = nn.Embedding(words, size.width, sparse=sparse)

    def forward(self, words, neighbours):
        return (self.context(neighbours) @ self.centre(words)[:, :, None]).squeeze(2)


# %% bad
torch.manual_seed(1)
with torch.device(device):
    model = SkipGram(size.words)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(chosen[step % 4], beside[step % 4])
    loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    loss.backward()  # <- dense_embedding_gradients
    optimizer.step()  # <- dense_embedding_gradients

# %% good
torch.manual_seed(1)
with torch.device(device):
    model = SkipGram(size.words, sparse=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(chosen[step % 4], beside[step % 4])
    loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    loss.backward()
    optimizer.step()

# %% negative
torch.manual_seed(1)
with torch.device(device):
    model = SkipGram(500)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(size.steps):
    optimizer.zero_grad()
    scores = model(chosen[step % 4] % 500, beside[step % 4] % 500)
    loss = nn.functional.binary_cross_entropy_with_logits(scores, wanted)
    loss.backward()
    optimizer.step()
