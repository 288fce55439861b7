"""Whether a large tensor or array holds the same numbers again and again: overlapping windows, or rows that are all
alike.

A few lines of it are compared, in the host's memory and in place; nothing is copied but those lines.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

from gpuprof.capture.memory.dense_arrays import dense_array

_FEWEST = 8
_LONGEST = 4096
_SPOTS = 6
_FEWEST_SPOTS = 3
_MOST_TRIED = 16
_TWO_BYTES = 2


class RepeatedNumbers(NamedTuple):
    """`bytes` need not be there: each number lies in the tensor about `times` times."""

    bytes: int
    times: float


def repeats_in(tensor: Any) -> RepeatedNumbers | None:
    """Of a plain dense tensor on the host, or of an array; None for any other, and where no repetition was found."""
    array = dense_array(tensor)
    if array is None or array.itemsize < _TWO_BYTES:
        return None
    found = [_times(array, *axes) for axes in permutations(range(array.ndim), 2)]
    times = max((each for each in found if each is not None), default=1.0)
    return RepeatedNumbers(int(array.size * array.itemsize * (1 - 1 / times)), times) if times > 1 else None


def _times(array: Any, axis: int, along: int) -> float | None:
    """How often each number comes, where each line of `along` is the one before it on `axis`, moved on."""
    rows, length = array.shape[axis], array.shape[along]
    if rows < _FEWEST or length < _FEWEST:
        return None
    index: list[Any] = [size // 2 for size in array.shape]
    index[along] = slice(0, min(length, _LONGEST))
    steps = set()
    spots = 0
    for spot in range(_SPOTS):
        index[axis] = (rows - 2) * spot // (_SPOTS - 1)
        line = array[tuple(index)]
        index[axis] += 1
        following = array[tuple(index)]
        if not _varied(line):
            continue
        spots += 1
        steps.add(_moved_by(line, following))
        if None in steps or len(steps) > 1:
            return None
    if spots < _FEWEST_SPOTS:
        return None
    step = steps.pop() or 0
    return float(rows * length / ((rows - 1) * step + length))


def _varied(line: Any) -> bool:
    import numpy as np

    return len(np.unique(line)) >= _FEWEST


def _moved_by(line: Any, following: Any) -> int | None:
    """By how many elements: 0 for the same line again."""
    import numpy as np

    if np.array_equal(line, following):
        return 0
    half = len(line) // 2
    for step in (np.flatnonzero(line[1 : half + 1] == following[0])[:_MOST_TRIED] + 1).tolist():
        if np.array_equal(line[step:], following[:-step]):
            return int(step)
    return None
