"""
number = 64
title = "Join tensors once"
family = "predictions"
rule = "tensor_grown_by_cat"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = false
false = []

[sizes.mini]
batches = 40
batch = 64
width = 128
classes = 128

[sizes.cpu]
batches = 240
batch = 256
width = 1024
classes = 200

[sizes.host_bound]
batches = 400
batch = 256
width = 256
classes = 400

[sizes.balanced]
batches = 400
batch = 1024
width = 4096
classes = 1000

[sizes.device_bound]
batches = 200
batch = 4096
width = 16384
classes = 1000

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
model = torch.nn.Sequential(
    torch.nn.Linear(32, size.width),
    torch.nn.ReLU(),
    torch.nn.Linear(size.width, size.classes),
).to(device)
rows = torch.randn(size.batches * size.batch, 32, device=device)
kinds = torch.randint(0, size.classes, (len(rows),), device=device)
model.eval()

# %% bad
predicted = torch.empty(0, size.classes, device=device)
with torch.inference_mode():
    for x in rows.split(size.batch):
        likely = model(x).log_softmax(dim=1)
        predicted = torch.cat([predicted, likely])  # <- tensor_grown_by_cat
loss = torch.nn.functional.nll_loss(predicted, kinds).item()

# %% good
predicted = []
with torch.inference_mode():
    for x in rows.split(size.batch):
        likely = model(x).log_softmax(dim=1)
        predicted.append(likely)
    predicted = torch.cat(predicted)
loss = torch.nn.functional.nll_loss(predicted, kinds).item()
