"""Lines that take more and more of the time the larger what they read is, over the whole cell, by sampled stacks.

The samples are put in order of how large it was, where looks show that, else in order of time. So a list that each
epoch begins anew is seen to grow as well, and one that a method of an object fills.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.loops.accumulations import Accumulation, Accumulations, Growing
from gpuprof.analyses.loops.line_iterations import stack_path
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_THIRDS = 3
# how many standard errors the last third has to be above the first
_ERRORS = 4.0
_LEAST_RISE = 0.15
_MOST_SHARE = 0.98
# how many times as large it is in the last third
_LARGER = 1.5


@dataclass(frozen=True)
class GrowingShare:
    """`lines` that work on all of what `accumulation` collects, or on what comes of it, take the shares `thirds` (0..1)
    of the loop's time, one for each third of it, each within `error`. `excess_ns`: what they take in the loop beyond
    the same part of the rest as in the first third; `loop_ns`: all of the loop; `cell_ns`: all that was sampled.

    `sizes`: medians of its length, or of its elements, in the three: then these are the time when it was small, larger,
    and largest. None where they are in order of time. The loop of what a function collects is then all of the cell from
    the first look at it to the last."""

    accumulation: Accumulation
    lines: tuple[int, ...]
    thirds: tuple[float, float, float]
    error: float
    excess_ns: int
    loop_ns: int
    cell_ns: int
    sizes: tuple[int, int, int] | None = None


@dataclass(frozen=True)
class GrowingShares(Result):
    """`found`, the largest excess first; empty where no stack was sampled, or no text shows what is collected."""

    found: tuple[GrowingShare, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """In three parts of one length, each against what else ran in it."""
        if trace.context.stacks is None or not len(trace.stack_samples):
            return cls(())
        reader = _ShareReader(trace)
        collected = (each for each in results.get(Accumulations).found if each.growing is not Growing.ATTACHED)
        each = (reader.by_size(found) or reader.by_time(found) for found in collected)
        return cls(tuple(sorted((one for one in each if one is not None), key=lambda one: -one.excess_ns)))


class _ShareReader:
    """Of one trace's samples."""

    def __init__(self, trace: Trace):
        self._trace, samples = trace, trace.stack_samples
        self._node, self._start, self._lasted = (samples[name] for name in ("node", "start_ns", "duration_ns"))
        self._paths = {node: stack_path(trace, node) for node in np.unique(self._node).tolist()}

    def by_time(self, found: Accumulation) -> GrowingShare | None:
        """Of the samples in the loop, or the function."""
        chosen = self._inside(found)
        chosen = chosen[np.argsort(self._start[chosen], kind="stable")]
        return self._share(found, chosen, found.works) or self._share(found, chosen, found.reads)

    def by_size(self, found: Accumulation) -> GrowingShare | None:
        """Of the samples from the first look at it to the last: of what a function collects all of them."""
        known = _sizes(self._trace, found)
        if known is None:
            return None
        times, sizes = known
        chosen = np.arange(len(self._node)) if found.in_function else self._inside(found)
        chosen = chosen[(self._start[chosen] >= times[0]) & (self._start[chosen] <= times[-1])]
        size = _size_at(times, sizes, self._start[chosen])
        order = np.argsort(size, kind="stable")
        chosen, size = chosen[order], size[order]
        share = self._share(found, chosen, found.works) or self._share(found, chosen, found.reads)
        if share is None:
            return None
        third = _thirds(self._lasted[chosen])
        small, larger, largest = (int(np.median(size[third == each])) for each in range(_THIRDS))
        return replace(share, sizes=(small, larger, largest)) if largest >= _LARGER * max(small, 1) else None

    def _inside(self, found: Accumulation) -> Array:
        """The rows of the samples in the loop, or the function."""
        inside = [node for node, path in self._paths.items() if any(found.holds(*place) for place in path)]
        rows: Array = np.flatnonzero(np.isin(self._node, inside))
        return rows

    def _share(self, found: Accumulation, chosen: Array, lines: tuple[int, ...]) -> GrowingShare | None:
        """`chosen`: rows of the samples in their order."""
        stacks, lasted = self._trace.context.stacks, self._lasted[chosen].astype(np.float64)
        assert stacks is not None
        reading = [
            node
            for node, path in self._paths.items()
            if any(found.holds(*place) and place[1] in lines for place in path)
        ]
        reads = np.isin(self._node[chosen], reading)
        loop_ns = float(lasted.sum())
        if not reads.any() or not loop_ns:
            return None
        third = _thirds(lasted)
        whole = np.bincount(third, lasted, _THIRDS)
        shares = np.bincount(third, lasted * reads, _THIRDS) / np.maximum(whole, 1)
        error = float(np.hypot(*share_error(shares[[0, 2]], int(loop_ns / _THIRDS), stacks)))
        rises = shares[2] - shares[0] >= max(_LEAST_RISE, _ERRORS * error) and shares[0] <= shares[1] <= shares[2]
        if not rises or shares[0] > _MOST_SHARE:
            return None
        rest = np.bincount(third, lasted * ~reads, _THIRDS)
        usual = shares[0] / (1 - shares[0])
        excess = float(np.maximum(whole - rest - usual * rest, 0).sum())
        first, second, last = (float(each) for each in shares)
        return GrowingShare(
            found, lines, (first, second, last), error, int(excess), int(loop_ns), int(self._lasted.sum())
        )


def _thirds(lasted: Array) -> Array:
    """In which third of all time each of these lies, 0..2."""
    lasted = lasted.astype(np.float64)
    third: Array = (_THIRDS * np.cumsum(lasted) / (lasted.sum() + 1)).astype(np.int64)
    return third


def _sizes(trace: Trace, found: Accumulation) -> tuple[Array, Array] | None:
    """Unix times, and how large it was then; None where it was not seen to grow."""
    stacks = trace.context.stacks
    cell = next((each.filename for each in (stacks.files if stacks else ()) if each.kind == "cell"), "")
    seen = operands_at(trace.context.operands, found.file or cell, found.line)
    known = next((each.sizes for each in seen if each.name == found.name and each.sizes), None)
    if known is None:
        return None
    times, sizes = np.array(known, np.int64).T
    return times, sizes


def _size_at(times: Array, sizes: Array, at: Array) -> Array:
    """In between two looks it grew steadily, unless it was begun anew."""
    after = np.clip(np.searchsorted(times, at, side="right"), 1, len(times) - 1)
    before = after - 1
    grew = sizes[after] >= sizes[before]
    steady = np.interp(at, times, sizes)
    nearer = np.where(2 * at < times[before] + times[after], sizes[before], sizes[after])
    found: Array = np.where(grew, steady, nearer)
    return found
