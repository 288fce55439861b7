"""A loader whose collate reads every token to Python and copies 96 times a batch: a recorded step against one of
torch.profiler alone.

python -m benchmarks.observer.collate [--rounds 5] [--device cpu] -o FILE
"""

from __future__ import annotations

import argparse
import functools
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.observer.cells import Notebook
from benchmarks.proving.fresh import write_json

STEPS = 60
PROFILES = ("plain", "torch", "gpuprof")
_BEFORE = """
import torch
from torch.utils.data import DataLoader, Dataset

class Texts(Dataset):
    def __init__(self, count):
        self.tokens = torch.randint(0, 500, (count, 24), generator=torch.Generator().manual_seed(1))
    def __len__(self):
        return len(self.tokens)
    def __getitem__(self, index):
        return self.tokens[index]

def collate(samples):
    rows = [[int(token) for token in sample] for sample in samples]
    parts = [torch.tensor(row).to(torch.float32) for row in rows for _ in range(3)]
    return torch.stack(parts[::3]).long()

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Embedding(500, 64), torch.nn.Flatten(), torch.nn.Linear(24 * 64, 500))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = DataLoader(Texts(32 * STEPS), batch_size=32, collate_fn=collate)
"""
_CELL = """
with PROFILE() as profiled:
    for batch in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(batch), batch[:, 0]).backward()
        optimizer.step()
        ENDED()
"""


def measure(rounds: int) -> dict[str, Any]:
    """Median step of each, by the clock and in processor time, a round each."""
    import torch
    import torch._dynamo

    import gpuprof

    notebook, marks = Notebook(), list[tuple[float, float]]()
    ended = lambda: marks.append((time.perf_counter(), time.process_time()))  # noqa: E731
    notebook.namespace.update({"STEPS": STEPS, "ENDED": ended})
    notebook.run(_BEFORE)
    found: dict[str, list[tuple[float, float]]] = {each: [] for each in PROFILES}
    with tempfile.TemporaryDirectory() as folder:
        # recorded to the end of the cell: the pass through the loader would end it earlier
        ours = functools.partial(gpuprof.profile, steps=STEPS, skip=0, folder=folder)
        activities = [torch.profiler.ProfilerActivity.CPU]
        kinds: dict[str, Callable[[], AbstractContextManager[Any]]] = {
            "plain": nullcontext,
            "torch": functools.partial(torch.profiler.profile, activities=activities, acc_events=False),
            "gpuprof": ours,
        }
        for at in range(rounds + 1):
            for each in PROFILES if at % 2 else PROFILES[::-1]:
                marks.clear()
                notebook.namespace["PROFILE"] = kinds[each]
                notebook.run(_CELL)
                if at:  # the first round loads and compiles
                    found[each].append(_medians(marks))
    return {"steps": STEPS, "medians": found}


def _medians(marks: list[tuple[float, float]]) -> tuple[float, float]:
    """Without the first steps, and the last, in which a recording ends."""
    wall, cpu = zip(*marks[4:-1], strict=True)
    return _median_step(wall), _median_step(cpu)


def _median_step(ends: tuple[float, ...]) -> float:
    return statistics.median(after - before for before, after in itertools.pairwise(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description="a costly collate under two profilers")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--device", default="cpu", choices=("cpu",))
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    output = chosen.output.resolve()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    write_json(output, measure(chosen.rounds))


if __name__ == "__main__":
    main()
