"""The training loops that the checks share, as texts of notebook cells, in three sizes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

# what the host does, both, and what the device does is the bottleneck of a large GPU
SIZES = {
    "host_bound": {"width": 128, "layers": 2, "heads": 4, "batch": 8, "length": 32},
    "balanced": {"width": 512, "layers": 6, "heads": 8, "batch": 16, "length": 128},
    "device_bound": {"width": 1024, "layers": 12, "heads": 16, "batch": 32, "length": 512},
    "mini": {"width": 32, "layers": 1, "heads": 2, "batch": 4, "length": 8},
}

SETUP = """\
import torch
torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(size.width, size.heads, 4 * size.width, dropout=0.0, batch_first=True)
model = torch.nn.Sequential(
    torch.nn.Embedding(1000, size.width),
    torch.nn.TransformerEncoder(layer, size.layers, enable_nested_tensor=False),
    torch.nn.Linear(size.width, 1000),
).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(0, 1000, (size.batch * 16, size.length))
batches = [tokens[i * size.batch:(i + 1) * size.batch].to(device) for i in range(16)]
losses = []

def train_step(x):
    optimizer.zero_grad()
    y = model(x)
    loss = torch.nn.functional.cross_entropy(y.flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    return loss.detach()
"""

CELL = """\
for step in range(steps):
    losses.append(train_step(batches[step % 16]))
"""


def sized(size: str, device: str, **more: Any) -> dict[str, Any]:
    """The globals that SETUP and CELL need, `steps` apart."""
    return {"__name__": "__main__", "device": device, "size": SimpleNamespace(**SIZES[size]), **more}
