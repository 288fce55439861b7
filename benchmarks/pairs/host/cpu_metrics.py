"""
number = 17
title = "Count on the device, score once"
family = "host_work"
rule = ["host_cpu_bound", "sync_in_step"]
guard = "exact"
shows_on = "cuda"
published = "nobody: measure"

[sizes.mini]
batches = 24
batch = 256
width = 64

[sizes.host_bound]
batches = 60
batch = 512
width = 512

[sizes.balanced]
batches = 60
batch = 2048
width = 4096

[sizes.device_bound]
batches = 40
batch = 8192
width = 16384
"""

# %% setup
import torch
from sklearn.metrics import f1_score

torch.manual_seed(0)
x = torch.randn(size.batches, size.batch, size.width, device=device)
y = torch.randint(0, 10, (size.batches, size.batch), device=device)
model = torch.nn.Sequential(
    torch.nn.Linear(size.width, size.width), torch.nn.ReLU(), torch.nn.Linear(size.width, 10)
).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

# %% bad
f1 = 0.0
for inputs, kinds in zip(x, y):
    optimizer.zero_grad()
    scores = model(inputs)
    loss = torch.nn.functional.cross_entropy(scores, kinds)
    loss.backward()
    optimizer.step()
    guessed = scores.argmax(dim=1).cpu().numpy()  # <- sync_in_step
    f1 += f1_score(kinds.cpu().numpy(), guessed, average="macro")  # <- host_cpu_bound

# %% good
counts = torch.zeros(10, 10, device=device)
one = torch.ones(size.batch, device=device)
for inputs, kinds in zip(x, y):
    optimizer.zero_grad()
    scores = model(inputs)
    loss = torch.nn.functional.cross_entropy(scores, kinds)
    loss.backward()
    optimizer.step()
    counts.index_put_((kinds, scores.argmax(dim=1)), one, accumulate=True)
f1 = float((2 * counts.diag() / (counts.sum(0) + counts.sum(1))).nanmean())
