"""One line below a long cell, in a real kernel: what waits for data is told, what trains is not."""

from __future__ import annotations

from pathlib import Path

from tests.support.kernel import live_kernel

SET_UP = """
import time, torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 4000
    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.zeros(64), i % 4

model = torch.nn.Linear(64, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def train(batches, seconds):
    until = time.monotonic() + seconds
    for x, y in batches:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if time.monotonic() > until:
            break
"""
WAITS = "train(DataLoader(Slow(), batch_size=16), 7)\nprint('done')"
TRAINS = "x, y = torch.randn(256, 64), torch.randint(0, 4, (256,))\ntrain(iter(lambda: (x, y), None), 6)"


def test_a_cell_that_waits_gets_a_line_and_others_get_none(tmp_path: Path) -> None:
    with live_kernel(tmp_path) as kernel:
        assert "hints are on" in kernel.run("%gpuprof on").stream("stderr")
        assert not kernel.run(SET_UP).outputs
        waits = kernel.run(WAITS)
        said = [each["text/plain"] for each in waits.displays]
        assert len(said) == 1 and said[0].startswith("gpuprof: ") and "waiting for data" in said[0]
        assert waits.outputs[0].output_type == "stream" and waits.stream("stdout") == "done\n"
        assert not kernel.run(TRAINS).outputs
        assert not kernel.run("1 + 1;").outputs
        kernel.run("%gpuprof off")
        assert [each.output_type for each in kernel.run(WAITS).outputs] == ["stream"]
        assert not (tmp_path / ".gpuprof").exists()
