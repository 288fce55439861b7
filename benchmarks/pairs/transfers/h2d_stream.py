"""
number = 6
title = "Copy the next batch on a stream of its own"
family = "transfers"
rule = "exposed_h2d_copy"
guard = "exact"
shows_on = "cuda"
published = "about 1.0× in PyTorch's tutorial, where the copy is short; bound by copy ÷ step"

[sizes.mini]
rows = 64
features = 256
width = 64
layers = 1
steps = 8

[sizes.host_bound]
rows = 64
features = 1024
width = 256
layers = 40
steps = 24

[sizes.balanced]
rows = 4096
features = 8192
width = 8192
layers = 2
steps = 24

[sizes.device_bound]
rows = 4096
features = 8192
width = 8192
layers = 16
steps = 24

[besides]
host_bound = ["launch_bound", "small_batch"]
"""

# %% setup
import torch
from torch import nn

torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

pin = torch.Tensor.pin_memory if device == "cuda" else torch.Tensor.clone
images = [pin(torch.randn(size.rows, size.features)) for _ in range(4)]
kinds = [torch.randint(0, 10, (size.rows,), device=device) for _ in range(4)]
with torch.device(device):
    hidden = [nn.Sequential(nn.Linear(size.width, size.width), nn.ReLU()) for _ in range(size.layers)]
    model = nn.Sequential(nn.Linear(size.features, size.width), nn.ReLU(), *hidden, nn.Linear(size.width, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


class Ahead:
    """Copies the next batch on a stream of its own while the present one is computed on."""

    def __init__(self, batches):
        self.batches = batches
        self.side = torch.cuda.Stream() if device == "cuda" else None
        self.fetch(0)

    def fetch(self, step):
        if self.side is None:
            self.next = self.batches[step % 4].to(device)
            return
        with torch.cuda.stream(self.side):
            self.next = self.batches[step % 4].to(device, non_blocking=True)

    def take(self, step):
        if self.side is not None:
            torch.cuda.current_stream().wait_stream(self.side)
            self.next.record_stream(torch.cuda.current_stream())
        batch = self.next
        self.fetch(step + 1)
        return batch


# %% bad
for step in range(size.steps):
    x = images[step % 4].to(device, non_blocking=True)  # <- exposed_h2d_copy
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), kinds[step % 4])
    loss.backward()
    optimizer.step()

# %% good
ahead = Ahead(images)
for step in range(size.steps):
    x = ahead.take(step)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), kinds[step % 4])
    loss.backward()
    optimizer.step()
