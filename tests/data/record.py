"""Record the small CPU run that the repository carries: python tests/data/record.py

Six steps of a tiny network with a slow dataset and a for-loop optimizer, recorded by gpuprof itself.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import gpuprof

HERE = Path(__file__).resolve().parent / "cpu-training"


class Slow(Dataset):
    def __len__(self):
        return 48

    def __getitem__(self, i):
        time.sleep(0.0005)
        return torch.full((16,), float(i)), i % 4


def train():
    layers = [nn.Linear(16, 16), nn.ReLU()] * 10
    model = nn.Sequential(*(nn.Linear(16, 16) if isinstance(layer, nn.Linear) else layer for layer in layers))
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)
    for x, y in DataLoader(Slow(), batch_size=8):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    train()  # the first pass pays for torch's own start
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPUPROF_FOLDER"] = folder
        with gpuprof.profile(name="cpu training", memory=True) as run:
            train()
        shutil.rmtree(HERE, ignore_errors=True)
        shutil.copytree(run.folder, HERE)
    forget_machine()


def forget_machine() -> None:
    """What names this machine is not data."""
    path = HERE / "kineto.json.gz"
    trace = json.loads(gzip.decompress(path.read_bytes()))
    trace.pop("traceName", None)
    path.write_bytes(gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), mtime=0))
    manifest = HERE / "recording.json"
    told = json.loads(manifest.read_text())
    told["context"]["environment"].update(system="Linux", processor="x86-64")
    told["context"]["cell"] = None
    manifest.write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
