"""From which sizes on the standard alternative of an operator is faster: the crossovers behind `costly_algorithm`.

    python -m benchmarks.costly_algorithms [conv1d inverse svd sort distances columns] [--turns 3]

Each pair runs in turns in one process, on one thread, by processor time. `factor`: time of the usual way over that of
the alternative, median of the turns. What the analyses assume of the same shapes is in the same row, where they
predict it. The figures are of the CPU that runs it; the thresholds keep a factor of 2 in hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.nn.functional import conv1d, pad

from benchmarks.sparse_products import ratio
from gpuprof.analyses.demand import algorithm_costs as costs

Pair = tuple[str, Callable[[], Any], Callable[[], Any], float]
"""What it is, the usual way, the alternative, and the factor that is assumed (0: none)."""


def by_fft(signal: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """`conv1d(pad(signal), kernel)` of one channel for each, as a causal filter."""
    count = signal.shape[-1] + kernel.shape[-1] - 1
    spectrum = torch.fft.rfft(signal, count) * torch.fft.rfft(kernel.flip(-1), count).squeeze(1)
    return torch.fft.irfft(spectrum, count)[..., : signal.shape[-1]]


def mixed_by_fft(signal: torch.Tensor, kernel: torch.Tensor) -> torch.Tensor:
    """Of several channels to several others."""
    count = signal.shape[-1] + kernel.shape[-1] - 1
    spectrum = torch.einsum("ncf,ocf->nof", torch.fft.rfft(signal, count), torch.fft.rfft(kernel.flip(-1), count))
    return torch.fft.irfft(spectrum, count)[..., : signal.shape[-1]]


def conv1d_pairs() -> Iterator[Pair]:
    for batch, channels, groups in ((1, 1, 1), (16, 1, 1), (4, 8, 8), (4, 16, 1)):
        for length in (4_096, 32_000):
            for taps in (32, 128, 512, 2_048, 6_400):
                signal, kernel = torch.rand(batch, channels, length), torch.rand(channels, channels // groups, taps)
                alone = channels // groups == 1
                assumed = costs.convolution(batch, channels, channels, groups, taps, length)
                name = f"{batch}×{channels} channels in {groups} groups, {length:,} long, {taps:,} taps"
                yield name, _direct(signal, kernel, groups), _faster(signal, kernel, alone), assumed


def _direct(signal: torch.Tensor, kernel: torch.Tensor, groups: int) -> Callable[[], Any]:
    return lambda: conv1d(pad(signal, (kernel.shape[-1] - 1, 0)), kernel, groups=groups)


def _faster(signal: torch.Tensor, kernel: torch.Tensor, alone: bool) -> Callable[[], Any]:
    return (lambda: by_fft(signal, kernel)) if alone else (lambda: mixed_by_fft(signal, kernel))


def inverse_pairs() -> Iterator[Pair]:
    for size in (32, 128, 512, 1_536):
        for columns in (1, size // 4, size, 4 * size):
            matrix, right = torch.rand(size, size) + size * torch.eye(size), torch.rand(size, columns)
            assumed = costs.inverse(1, size, columns)
            yield f"{size}×{size}, {columns} columns", _inverted(matrix, right), _solved(matrix, right), assumed


def _inverted(matrix: torch.Tensor, right: torch.Tensor) -> Callable[[], Any]:
    return lambda: torch.linalg.inv(matrix) @ right


def _solved(matrix: torch.Tensor, right: torch.Tensor) -> Callable[[], Any]:
    return lambda: torch.linalg.solve(matrix, right)


def svd_pairs() -> Iterator[Pair]:
    for rows, columns in ((128, 64), (256, 64), (750, 60), (1_024, 64), (600, 300), (1_200, 300), (2_000, 30)):
        matrix = torch.rand(rows, columns, dtype=torch.float64)
        assumed = costs.singular_values(1, rows, columns)
        yield f"{rows}×{columns}", _singular(matrix, True), _singular(matrix, False), assumed


def _singular(matrix: torch.Tensor, full: bool) -> Callable[[], Any]:
    return lambda: torch.linalg.svd(matrix, full_matrices=full)


def sort_pairs() -> Iterator[Pair]:
    for rows, length in ((1, 100_000), (128, 1_000), (128, 40_000)):
        for first in (1, length // 100, length // 20, length // 8, length // 2):
            scores = torch.rand(rows, length)
            yield f"{rows}×{length:,}, first {first:,}", _sorted(scores, first), _top(scores, first), 0.0


def _sorted(scores: torch.Tensor, first: int) -> Callable[[], Any]:
    return lambda: scores.argsort(dim=1, descending=True)[:, :first]


def _top(scores: torch.Tensor, first: int) -> Callable[[], Any]:
    return lambda: scores.topk(first, dim=1).indices


def distance_pairs() -> Iterator[Pair]:
    for count in (200, 1_000):
        for length in (2, 3, 8, 32, 112):
            one, other = torch.rand(count, length), torch.rand(count, length)
            assumed = costs.distances(length)
            yield f"{count}×{count}, {length} long", _broadcast(one, other), _distances(one, other), assumed
            name, assumed = f"{count}×{count}, {length} long, absolute", costs.distances(length, squared=False)
            yield name, _absolute(one, other), _distances(one, other, 1.0), assumed


def column_pairs() -> Iterator[Pair]:
    for rows, count, chosen in ((2_000, 20_000, 256), (500, 5_000, 128), (2_000, 2_000, 256), (4_000, 400, 64)):
        matrix, picked = torch.rand(rows, count), torch.randint(0, count, (chosen,))
        name = f"{chosen} columns of {rows:,}×{count:,}"
        yield name, *_gathered(matrix, picked), costs.columns(rows, 4 * matrix.numel())


def _gathered(matrix: torch.Tensor, picked: torch.Tensor) -> tuple[Callable[[], Any], Callable[[], Any]]:
    kept = matrix.T.contiguous()
    return lambda: matrix[:, picked], lambda: kept[picked].T.contiguous()


def _broadcast(one: torch.Tensor, other: torch.Tensor) -> Callable[[], Any]:
    return lambda: ((one[:, None, :] - other[None, :, :]) ** 2).sum(-1)


def _absolute(one: torch.Tensor, other: torch.Tensor) -> Callable[[], Any]:
    return lambda: (one[:, None, :] - other[None, :, :]).abs().sum(-1)


def _distances(one: torch.Tensor, other: torch.Tensor, power: float = 2.0) -> Callable[[], Any]:
    return lambda: torch.cdist(one, other, p=power).square()


PAIRS: dict[str, Callable[[], Iterator[Pair]]] = {
    "conv1d": conv1d_pairs,
    "inverse": inverse_pairs,
    "svd": svd_pairs,
    "sort": sort_pairs,
    "distances": distance_pairs,
    "columns": column_pairs,
}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    given.add_argument("which", nargs="*", choices=[*PAIRS, []], default=[])
    given.add_argument("--turns", type=int, default=3)
    options = given.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, CPU, one thread, {options.turns} turns", flush=True)
    for name in options.which or PAIRS:
        print(f"\n| {name} | factor | assumed |\n|---|---|---|", flush=True)
        for what, usual, other, assumed in PAIRS[name]():
            found = ratio(usual, other, "cpu", options.turns)
            print(f"| {what} | {found:.2f} | {f'{assumed:.2f}' if assumed else '–'} |", flush=True)


if __name__ == "__main__":
    main()
