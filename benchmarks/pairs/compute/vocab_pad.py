"""
number = 24
title = "Pad the vocabulary to a multiple of 64"
family = "shapes"
rule = "unaligned_gemm_shape"
guard = "training"
shows_on = "cuda"
published = "1.03× for a GPT-2 on an A100 (96 → 93 ms, Karpathy)"

[sizes.mini]
tokens = 64
vocabulary = 257
padded = 320
width = 64
steps = 8

[sizes.host_bound]
tokens = 64
vocabulary = 1001
padded = 1024
width = 128
steps = 30

[sizes.balanced]
tokens = 4096
vocabulary = 50257
padded = 50304
width = 768
steps = 24

[sizes.device_bound]
tokens = 16384
vocabulary = 50257
padded = 50304
width = 2048
steps = 20

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")


class NextToken(nn.Module):
    """A small language model: almost all of it is the table of words, used for input and output."""

    def __init__(self, words):
        super().__init__()
        self.embedding = nn.Embedding(words, size.width)
        self.hidden = nn.Sequential(
            nn.Linear(size.width, 4 * size.width), nn.GELU(), nn.Linear(4 * size.width, size.width)
        )

    def forward(self, tokens):
        return nn.functional.linear(self.hidden(self.embedding(tokens)), self.embedding.weight)


text = torch.randint(0, size.vocabulary, (size.tokens + 1,), device=device)

# %% bad
with torch.device(device):
    model = NextToken(size.vocabulary)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(text[:-1]), text[1:])  # <- unaligned_gemm_shape
    loss.backward()
    optimizer.step()

# %% good
with torch.device(device):
    model = NextToken(size.padded)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(size.steps):
    optimizer.zero_grad()
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(text[:-1]), text[1:])
    loss.backward()
    optimizer.step()
