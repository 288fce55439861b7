"""Launches without a kernel: how many were lost, apart from those at the edges of the window and in graph capture."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import matching
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_CAPTURES = re.compile(r"\w*(?:GraphInstantiate|StreamEndCapture)")
# Kernels still in the queue when a window ends were never recorded, nor was what ran when it began.
_EDGE_SHARE = 0.02


@dataclass(frozen=True)
class LostLaunches(Result):
    """`launches` counts the kernel launches outside graph capture, `lost` those without device work among them.

    A launch under graph capture runs nothing. The launches before the first and after the last that has its kernel
    are the window's edges, and not lost, where they take at most a fiftieth of the span.
    `calls_end_share`: when the last runtime or driver call ended, as a share (0..1) of the time that operators fill;
    None without operators or calls.
    """

    launches: int = 0
    lost: int = 0
    calls_end_share: float | None = None

    @property
    def lost_share(self) -> float:
        """0..1; 0 without launches."""
        return self.lost / self.launches if self.launches else 0.0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the calls and the device events linked to them."""
        calls, linked = trace.calls, trace.device_events["call"]
        matched = np.zeros(len(calls), bool)
        matched[linked[linked >= 0]] = True
        launching = (calls["kind"] == CallKind.KERNEL) | (calls["kind"] == CallKind.GRAPH)
        captures = calls["start_ns"][matching(trace, calls, _CAPTURES)]
        captured = calls["start_ns"] < (captures.max() if len(captures) else np.iinfo(np.int64).min)
        asked = launching & (matched | ~captured)
        starts, has_kernel = calls["start_ns"][asked], matched[asked]
        lost = ~has_kernel & ~_edges(starts, has_kernel, trace.span_ns)
        return cls(int(asked.sum()), int(lost.sum()), _calls_end(trace))


def _edges(starts: Array, has_kernel: Array, span_ns: int) -> Array:
    """Boolean mask over the launches, which are in order of time: those of a short edge."""
    edge = np.zeros(len(starts), bool)
    known = np.flatnonzero(has_kernel)
    if not len(known):
        return edge
    first, last = known[0], known[-1]
    longest = _EDGE_SHARE * span_ns
    edge[:first] = starts[first] - starts[0] <= longest
    edge[last + 1 :] = starts[-1] - starts[last] <= longest
    return edge


def _calls_end(trace: Trace) -> float | None:
    operators, calls = trace.operators, trace.calls
    if not len(operators) or not len(calls):
        return None
    begin = int(operators["start_ns"].min())
    whole = int((operators["start_ns"] + operators["duration_ns"]).max()) - begin
    end = int((calls["start_ns"] + calls["duration_ns"]).max()) - begin
    return min(max(end / whole, 0.0), 1.0) if whole > 0 else None
