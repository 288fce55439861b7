"""
number = 58
title = "Compute the loss of all samples at once"
family = "latent_models"
rule = "python_loop_over_batch"
guard = "exact"
shows_on = "cpu"
published = "nobody: measure"

[first_sight]
found = true
false = []

[sizes.mini]
images = 192
batch = 16
hidden = 128
latent = 8

[sizes.cpu]
images = 9216
batch = 48
hidden = 1024
latent = 20

[sizes.host_bound]
images = 4096
batch = 64
hidden = 400
latent = 20

[sizes.balanced]
images = 4096
batch = 64
hidden = 4096
latent = 64

[sizes.device_bound]
images = 4096
batch = 64
hidden = 16384
latent = 64

[besides]
host_bound = ["launch_bound", "small_batch"]

[variants.negative]
rules = []
why = "the loop runs over a few draws of the latent variable, each for the whole batch"
"""

# %% setup
import torch
from torch.utils.data import DataLoader

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")
images = (torch.rand(size.images, 784) > 0.7).float()


class VAE(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = torch.nn.Sequential(torch.nn.Linear(784, size.hidden), torch.nn.ReLU())
        self.mean = torch.nn.Linear(size.hidden, size.latent)
        self.log_variance = torch.nn.Linear(size.hidden, size.latent)
        self.decode = torch.nn.Sequential(
            torch.nn.Linear(size.latent, size.hidden), torch.nn.ReLU(), torch.nn.Linear(size.hidden, 784)
        )

    def forward(self, x):
        hidden = self.encode(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decode(z), mean, log_variance


model = VAE().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
loader = DataLoader(images, batch_size=size.batch, shuffle=True, drop_last=True, pin_memory=device == "cuda")
bce = torch.nn.BCEWithLogitsLoss(reduction="sum")

# %% bad
for x in loader:
    x = x.to(device, non_blocking=True)
    optimizer.zero_grad()
    logits, mean, log_variance = model(x)
    loss = 0
    for i in range(len(x)):  # <- python_loop_over_batch
        reconstruction = bce(logits[i], x[i])  # <- python_loop_over_batch
        spread = 1 + log_variance[i] - mean[i].square() - log_variance[i].exp()  # <- python_loop_over_batch
        loss = loss + reconstruction - 0.5 * spread.sum()  # <- python_loop_over_batch
    loss = loss / len(x)
    loss.backward()
    optimizer.step()

# %% good
for x in loader:
    x = x.to(device, non_blocking=True)
    optimizer.zero_grad()
    logits, mean, log_variance = model(x)
    reconstruction = bce(logits, x)
    spread = 1 + log_variance - mean.square() - log_variance.exp()
    loss = (reconstruction - 0.5 * spread.sum()) / len(x)
    loss.backward()
    optimizer.step()

# %% negative
for x in loader:
    x = x.to(device, non_blocking=True)
    optimizer.zero_grad()
    loss = 0
    for draw in range(3):
        logits, mean, log_variance = model(x)
        spread = 1 + log_variance - mean.square() - log_variance.exp()
        loss = loss + bce(logits, x) - 0.5 * spread.sum()
    loss = loss / (3 * len(x))
    loss.backward()
    optimizer.step()
