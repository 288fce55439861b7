"""The iterations of a look to which nobody told them: one operator comes again and again at the same line."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array, Table

_FEWEST = 3
# of the operators' time, between the first and the last
_LEAST_SHARE = 0.5
# the longest one over the shortest one, in operators
_ALIKE = 2.0
# of so many one may be longer: what an outer loop does between two runs of the inner one
_ONE_LONGER = 8


def rounds(keys: Array, duration_ns: Array) -> Array:
    """The number of the iteration of each operator; empty where none are found.

    `keys` tells operators apart, by name and line. An iteration begins with the one that comes least often, but three
    times at least, at distances that are alike but for one in eight, over at least half of the time. What came before
    the first is iteration 0, what came after the last is in none (-1): it is cut off.
    """
    if not len(keys):
        return np.empty(0, np.int64)
    before_ns = np.concatenate(([0], np.cumsum(duration_ns)))
    order = np.argsort(keys, kind="stable")
    _, starts, counts = np.unique(keys[order], return_index=True, return_counts=True)
    found: list[tuple[int, int, Array]] = []
    for start, count in zip(starts.tolist(), counts.tolist(), strict=True):
        if count < _FEWEST:
            continue
        at = order[start : start + count]
        apart = np.sort(np.diff(at))
        usual = apart[: len(apart) - len(apart) // _ONE_LONGER]
        covers_ns = int(before_ns[at[-1]] - before_ns[at[0]])
        if usual[-1] <= _ALIKE * usual[0] and covers_ns >= _LEAST_SHARE * before_ns[-1]:
            found.append((count, int(at[0]), at))
    if not found:
        return np.empty(0, np.int64)
    _, _, begins = min(found, key=lambda each: each[:2])
    number = np.searchsorted(begins, np.arange(len(keys)), side="right")
    return np.where(number == len(begins), -1, number)


def with_rounds(operators: Table, share: float | None, *, to_next_step: bool) -> tuple[Table, int, float | None]:
    """With the iterations that show in the operators themselves; `share` is that of the look without them. Where it
    lasted `to_next_step` and none show, all of it is one."""
    number = rounds(operators["name"].astype(np.int64) << 32 | operators["place"] + 1, operators["duration_ns"])
    if not len(number) and to_next_step and len(operators):
        return operators.replace(iteration=np.zeros_like(operators["iteration"])), 1, 1.0
    if not len(number):
        return operators, 0, share
    whole = int(number.max())
    return operators.replace(iteration=number.astype(operators["iteration"].dtype)), whole, 1.0
