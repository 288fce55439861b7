"""What a sort and two binary searches leave of a loop that compares a whole tensor with each item.

`python benchmarks/search_per_item.py`: processor time, one thread, medians of five. `left` has one sort for these
items; where a cell sorts once for many loops, less is left.
"""

from __future__ import annotations

import statistics
import time

import torch

_SIZES = ((240_000, 2_000), (240_000, 326), (50_000, 1_000), (20_000, 64), (4_096, 16))


def once(elements: int, items: int) -> tuple[float, float]:
    """Seconds of the loop, and of the sort with the searches; both find the same."""
    keys, wanted = torch.randint(0, elements // 12, (elements,)), torch.randperm(elements // 12)[:items]
    begin = time.process_time()
    found = [(keys == item).nonzero().squeeze(1) for item in wanted.tolist()]
    looped = time.process_time()
    order = keys.argsort(stable=True)
    bounds = [torch.searchsorted(keys[order], wanted, right=right).tolist() for right in (False, True)]
    parts = [order[first:end] for first, end in zip(*bounds, strict=True)]
    ended = time.process_time()
    assert all(torch.equal(one, other) for one, other in zip(found, parts, strict=True))
    return looped - begin, ended - looped


def main() -> None:
    torch.set_num_threads(1)
    for elements, items in _SIZES:
        loop, sort = (statistics.median(each) for each in zip(*(once(elements, items) for _ in range(5)), strict=True))
        print(f"{items:,} items of {elements:,}: {1e3 * loop:.2f} ms, sort {1e3 * sort:.2f}, left {sort / loop:.2f}")


if __name__ == "__main__":
    main()
