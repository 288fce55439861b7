"""Short cells to profile, and how to read the trace they leave."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset


def model() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))


def loader(batches: int = 10, **settings: Any) -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.randn(4 * batches, 8)), batch_size=4, **settings)


def train(steps: int = 10, pause_s: float = 0.0, optimizer: torch.optim.Optimizer | None = None) -> None:
    """A loop without a DataLoader."""
    net = model()
    optimizer = optimizer or torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        net(torch.randn(4, 8)).sum().backward()
        time.sleep(pause_s)
        optimizer.step()
        optimizer.zero_grad()


def step(steps: int) -> None:
    """Optimizer steps alone: torch with CUDA cannot run a backward pass in a forked child."""
    optimizer = torch.optim.SGD(model().parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.step()


def train_from(data: DataLoader[Any]) -> None:
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for (x,) in data:
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()


def events(kineto: Path | None) -> list[dict[str, Any]]:
    """The complete events of a saved trace."""
    assert kineto is not None
    trace = json.loads(gzip.decompress(kineto.read_bytes()))
    return [event for event in trace["traceEvents"] if event.get("ph") == "X"]


def named(found: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in found if event["name"] == name]
