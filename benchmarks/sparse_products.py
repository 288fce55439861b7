"""What an element that is not zero costs in a sparse product, in operations of the dense one of the same shape.

    python benchmarks/sparse_products.py [--turns 5] [--device cuda]

`torch.sparse_csr @ dense` and the dense product in turns in one process, of square matrices with ones at random places,
for several sizes, shares of elements that are not zero, and numbers of columns. On the CPU one thread and processor
time. The last column is the factor `_SPARSE_COST` of `gpuprof/analyses/dataflow/zero_operands.py`: how many dense
operations the time of one operation of the sparse product is. Then what scaling takes of a product with a diagonal
matrix, and indexing of one with one-hot rows.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

_SIZES = (1_000, 3_000, 6_000)
_SHARES = (0.001, 0.003, 0.01, 0.03)
_COLUMNS = (1, 16, 96, 256)
_LEAST_S = 0.02


def seconds(code: Callable[[], Any], device: str) -> float:
    """Of one call, as many of them as it takes to measure; on the CPU of the processor."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    code()
    count, spent = 1, 0.0
    while True:
        _wait(device)
        began = clock()
        for _ in range(count):
            code()
        _wait(device)
        spent = clock() - began
        if spent >= _LEAST_S:
            return spent / count
        count *= 2


def ratio(one: Callable[[], Any], other: Callable[[], Any], device: str, turns: int) -> float:
    """Time of the one over that of the other: the median of measurements in turns."""
    return statistics.median(seconds(one, device) / seconds(other, device) for _ in range(turns))


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def sparse_rows(device: str, turns: int) -> None:
    print("| size | not zero | columns | sparse over dense | factor |\n|---|---|---|---|---|", flush=True)
    for size in _SIZES:
        for share in _SHARES:
            matrix = (torch.rand(size, size, device=device) < share).float()
            filled = float(matrix.count_nonzero()) / matrix.numel()
            sparse = matrix.to_sparse_csr()
            for columns in _COLUMNS:
                dense = torch.rand(size, columns, device=device)
                found = ratio(_times(sparse, dense), _times(matrix, dense), device, turns)
                row = f"{size:,} | {filled:.2%} | {columns} | {found:.3f} | {found / filled:.0f}"
                print(f"| {row} |", flush=True)


def special_rows(device: str, turns: int) -> None:
    print("\n| matrix | size | columns | instead, over the product |\n|---|---|---|---|", flush=True)
    for size in _SIZES:
        for columns in _COLUMNS:
            dense, vector = torch.rand(size, columns, device=device), torch.rand(size, device=device)
            diagonal, ids = vector.diag(), torch.randint(0, size, (size,), device=device)
            one_hot = torch.nn.functional.one_hot(ids, size).float()
            scaled = ratio(_scaling(diagonal, dense), _times(diagonal, dense), device, turns)
            indexed = ratio(_indexing(ids, dense), _times(one_hot, dense), device, turns)
            print(f"| diagonal | {size:,} | {columns} | {scaled:.3f} |", flush=True)
            print(f"| one-hot rows | {size:,} | {columns} | {indexed:.3f} |", flush=True)


def _times(matrix: torch.Tensor, dense: torch.Tensor) -> Callable[[], Any]:
    return lambda: matrix @ dense


def _scaling(matrix: torch.Tensor, dense: torch.Tensor) -> Callable[[], Any]:
    return lambda: matrix.diagonal()[:, None] * dense


def _indexing(ids: torch.Tensor, dense: torch.Tensor) -> Callable[[], Any]:
    return lambda: dense[ids]


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("--turns", type=int, default=5)
    given.add_argument("--device", default="cpu")
    options = given.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {options.device}, one thread, {options.turns} turns\n")
    sparse_rows(options.device, options.turns)
    special_rows(options.device, options.turns)


if __name__ == "__main__":
    main()
