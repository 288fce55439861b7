"""Lines that take more and more of their loop's time over the whole cell, by sampled stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.loops.accumulations import Accumulation, Accumulations
from gpuprof.analyses.loops.line_iterations import stack_path
from gpuprof.model.trace import Trace

_THIRDS = 3
# how many standard errors the last third has to be above the first
_ERRORS = 4.0
_LEAST_RISE = 0.15
_MOST_SHARE = 0.98


@dataclass(frozen=True)
class GrowingShare:
    """`lines` that work on all of what `accumulation` collects, or on what comes of it, take the shares `thirds` (0..1)
    of the loop's time, one for each third of it, each within `error`. `excess_ns`: what they take in the loop beyond
    the same part of the rest as in the first third; `loop_ns`: all of the loop; `cell_ns`: all that was sampled."""

    accumulation: Accumulation
    lines: tuple[int, ...]
    thirds: tuple[float, float, float]
    error: float
    excess_ns: int
    loop_ns: int
    cell_ns: int


@dataclass(frozen=True)
class GrowingShares(Result):
    """`found`, the largest excess first; empty where no stack was sampled, or no text shows what is collected."""

    found: tuple[GrowingShare, ...]

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """The loop's samples in order, in three parts of one length; its other lines are what is compared with."""
        if trace.context.stacks is None or not len(trace.stack_samples):
            return cls(())
        paths = {node: stack_path(trace, node) for node in np.unique(trace.stack_samples["node"]).tolist()}
        each = (
            _share(trace, paths, found, found.works) or _share(trace, paths, found, found.reads)
            for found in results.get(Accumulations).found
        )
        return cls(tuple(sorted((one for one in each if one is not None), key=lambda one: -one.excess_ns)))


def _share(
    trace: Trace, paths: dict[int, list[tuple[str, int]]], found: Accumulation, lines: tuple[int, ...]
) -> GrowingShare | None:
    samples, stacks = trace.stack_samples, trace.context.stacks
    assert stacks is not None
    inside = {node for node, path in paths.items() if any(found.holds(*place) for place in path)}
    reading = {node for node in inside if any(file == found.file and line in lines for file, line in paths[node])}
    chosen = np.flatnonzero(np.isin(samples["node"], list(inside)))
    lasted = samples["duration_ns"][chosen].astype(np.float64)
    loop_ns = float(lasted.sum())
    if not reading or not loop_ns:
        return None
    order = np.argsort(samples["start_ns"][chosen], kind="stable")
    chosen, lasted = chosen[order], lasted[order]
    third = (_THIRDS * np.cumsum(lasted) / (loop_ns + 1)).astype(np.int64)
    reads = np.isin(samples["node"][chosen], list(reading))
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
    cell_ns = int(samples["duration_ns"].sum())
    return GrowingShare(found, lines, (first, second, last), error, int(excess), int(loop_ns), cell_ns)
