"""What the hooks take of an iteration that is not recorded, in a loop that does next to nothing else.

python -m benchmarks.observer.hooks [--device cpu] -o FILE
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.observer.turns import Turns
from benchmarks.proving.fresh import write_json

_EPOCHS, _BATCHES = 700, 1_000


def measure() -> list[dict[str, Any]]:
    """Blocks of iterations, plain and watched in turns: a loader of batches made before, an optimizer without work."""
    import torch
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=0.0)
    batches: Any = [torch.zeros(1)] * _BATCHES
    with tempfile.TemporaryDirectory() as folder:
        turns = Turns(Path(folder), "")
        for _ in range(_EPOCHS):
            for _batch in DataLoader(batches, batch_size=None):
                optimizer.step()
                turns.step_ends(True)
        return turns.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description="what the hooks of an iteration cost")
    parser.add_argument("--device", default="cpu", choices=("cpu",))
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args()
    write_json(chosen.output.resolve(), {"blocks": measure()})


if __name__ == "__main__":
    main()
