"""What one fused call saves of attention that is written out, on the CPU: processor time, in turns in one process.

    python benchmarks/written_attention.py

`weights`: the weights' mean over the heads is made as well, as `torch.nn.MultiheadAttention` does by default.

Run once, 2026-11-23, torch 2.13, one thread, on a machine busy with other work; single figures differ by 20 points from
their neighbors. Saved in training, heads of 8, 32 and 64: of 64 keys 26, -6, 3 %; of 128 keys 25, 20, -12 %; of 256
keys 61, 23, 1 %; of 512 keys 70, 38, 19 %; of 1024 keys 51, 36, 37 %. The rule takes them by keys over width.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
WIDTHS = (8, 32, 64)
ELEMENTS = 1 << 22
ROUNDS = 7
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def written(tensors: Tensors) -> torch.Tensor:
    """As it stands in many notebooks."""
    query, key, value = tensors
    return torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1]), -1) @ value


def weights(tensors: Tensors) -> torch.Tensor:
    """And what nobody reads."""
    query, key, value = (each.flatten(0, 1) for each in tensors)
    found = torch.softmax(torch.bmm(query / math.sqrt(query.shape[-1]), key.transpose(-2, -1)), -1)
    made = torch.bmm(found, value)
    found.view(tensors[0].shape[0], -1, *found.shape[1:]).mean(1)
    return made.view(tensors[0].shape)


def fused(tensors: Tensors) -> torch.Tensor:
    """The one call."""
    return scaled_dot_product_attention(*tensors)


def seconds(attend: Callable[[Tensors], torch.Tensor], tensors: Tensors, train: bool) -> float:
    """Processor time of one call, with its backward pass."""
    began = time.process_time()
    made = attend(tensors)
    if train:
        made.sum().backward()
    return time.process_time() - began


def saved(length: int, width: int, train: bool) -> list[float]:
    """Shares of the time of `written` and `weights`."""
    heads: Any = max(ELEMENTS // length**2 // 4, 1)
    tensors: Any = tuple(torch.randn(4, heads, length, width, requires_grad=train) for _ in range(3))
    took: dict[Any, list[float]] = {each: [] for each in (written, weights, fused)}
    for _ in range(ROUNDS):
        for attend, found in took.items():
            found.append(seconds(attend, tensors, train))
    least = {attend: statistics.median(found) for attend, found in took.items()}
    return [1 - least[fused] / least[attend] for attend in (written, weights)]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(
        "| length | width | saved, training | with weights | saved, no gradients | with weights |",
        "|---" * 6 + "|",
        sep="\n",
    )
    for width in WIDTHS:
        for length in LENGTHS:
            row = [f"{each:.0%}" for train in (True, False) for each in saved(length, width, train)]
            print("", length, width, *row, "", sep=" | ", flush=True)


if __name__ == "__main__":
    main()
