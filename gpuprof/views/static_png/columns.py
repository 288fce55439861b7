"""From intervals to pixel columns: how much of each column's time every kind fills, exact at any number of events.

Drawing one patch an event takes seconds at a million events and leaves false gaps where patches are thinner than a
pixel; a share per column takes O(width · log n) and has none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuprof.model.intervals import Intervals, covered, union
from gpuprof.model.table import Array

FAINTEST = 0.18  # an event of a thousandth of a pixel must still be seen


def shares(parts: Mapping[str, Intervals], start_ns: int, end_ns: int, width: int) -> dict[str, Array]:
    """For every part the share (0..1) of each of `width` equal columns of [start_ns, end_ns); shape `(width,)`."""
    edges = start_ns + np.linspace(0, max(end_ns - start_ns, width), width + 1).astype(np.int64)
    lengths = np.diff(edges)
    return {key: covered(union(part), edges[:-1], edges[1:]) / lengths for key, part in parts.items()}


def blend(parts: Mapping[str, Array], colours: Mapping[str, str], paper: str) -> Array:
    """The colour of every column, uint8 of shape `(width, 3)`: parts mixed by share, the rest `paper`."""
    width = len(next(iter(parts.values()))) if parts else 0
    mixed = np.zeros((width, 3))
    total = np.zeros(width)
    for key, share in parts.items():
        mixed += share[:, None] * rgb(colours[key])
        total += share
    some = total > 0
    mixed[some] /= total[some, None]
    ink = np.where(some, np.clip(total, FAINTEST, 1.0), 0.0)[:, None]
    column: Array = np.rint(mixed * ink + rgb(paper) * (1 - ink)).astype(np.uint8)
    return column


def rgb(colour: str) -> Array:
    """`#rrggbb` as three floats 0..255."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], float)
