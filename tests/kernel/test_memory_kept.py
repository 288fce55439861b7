"""Lists and hooks that keep graphs and activations, and what is meant to grow: real cells in a real kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.kernel import LiveKernel, live_kernel

pytestmark = pytest.mark.kernel
RULES = ("memory_kept_by_hooks_or_graphs", "memory_grows_per_step")
SETUP = """
import torch
from torch import nn

torch.manual_seed(0)
F, D = nn.functional, 1024
net = nn.Sequential(nn.Linear(D, D), nn.ReLU(), nn.Linear(D, D), nn.ReLU(), nn.Linear(D, 8))
opt = torch.optim.SGD(net.parameters(), lr=1e-3)
x, y = torch.randn(1024, D), torch.randint(0, 8, (1024,))


def train():
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    return loss
"""
WATCHED = """%%gpuprofile --display none
watched = []
for step in range(40):
    train()
    watched.append(F.cross_entropy(net(x + step), y))
"""
HOOK = """%%gpuprofile --display none
acts = []


def keep(module, inputs, output):
    acts.append(output.detach())


handle = net[2].register_forward_hook(keep)
for step in range(150):
    train()
handle.remove()
"""
VALIDATION = """%%gpuprofile --display none
outputs = []
for step in range(8):
    train()
for step in range(40):
    outputs.append(net(x + step))
print(torch.cat(outputs).argmax(1).float().mean().item())
"""
REPLAY = """%%gpuprofile --display none
replay = []
for step in range(50):
    train()
    replay.append((torch.randn(1024, D), step))
"""
CACHE = """%%gpuprofile --display none
cache = {}
for epoch in range(2):
    for index in range(30):
        if index not in cache:
            cache[index] = torch.randn(1024, D)
        x = cache[index]
        train()
"""
NUMBERS = """%%gpuprofile --display none
losses, kept = [], []
for step in range(50):
    loss = train()
    losses.append(loss.item())
    kept.append(loss)
"""
WARM_UP = """%%gpuprofile --display none
for step in range(40):
    net(torch.randn(64 * (step % 16 + 1), D)).sum().backward()
    train()
"""
FREED = "watched = acts = outputs = replay = cache = None; import gc; gc.collect(); import ctypes; x = x.clone()"


def told(kernel: LiveKernel, cell: str) -> list[dict[str, Any]]:
    """The findings of a cell that are about memory that grows; what it kept is freed afterwards."""
    ran = kernel.run(cell)
    assert not ran.failed, ran.traceback
    shown = kernel.run("import json, gpuprof; print(json.dumps(gpuprof.last().to_dict()))")
    assert not shown.failed, shown.traceback
    found: dict[str, Any] = json.loads(shown.stream("stdout"))
    kernel.run(FREED)
    return [each for each in found["findings"] if each["rule"] in RULES]


def test_what_keeps_graphs_and_activations_is_named_and_what_is_meant_to_grow_is_not(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert not kernel.run(SETUP).failed
        for cell, name, line in ((WATCHED, "watched", 5), (HOOK, "acts", 6), (VALIDATION, "outputs", 6)):
            # beside other work a recording may be too uneven to say anything of it
            (finding,) = next((found for _ in range(3) if (found := told(kernel, cell))), [])
            assert finding["rule"] == "memory_kept_by_hooks_or_graphs"
            assert f"`{name}`" in finding["title"] and finding["where"]["lines"] == [line]
        for cell in (REPLAY, CACHE, NUMBERS, WARM_UP):
            assert told(kernel, cell) == []
