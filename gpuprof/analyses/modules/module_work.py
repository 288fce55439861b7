"""What ran for each module: its forward calls, and the backward pass of what they computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.line_places import issued_at
from gpuprof.analyses.modules.module_spans import ModuleSpans
from gpuprof.analyses.modules.nested_spans import NestedSpans
from gpuprof.model.kinds import MemoryDevice
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True, eq=False)
class ModuleWork(Result):
    """Own figures of each path (rows of `ModuleSpans.paths`), forward and backward apart: int64 arrays of shape
    `(2, paths)`, backward in row 1.

    `host_ns`: time in which it was the innermost module on a thread, or autograd ran a node that it made. A recomputed
    forward pass counts as backward. `device_ns`: of what was launched meanwhile; None where no device was recorded.
    `bytes`: allocated less released meanwhile, of the device where its memory was recorded, else of the host; None
    where neither was.
    """

    host_ns: Array
    device_ns: Array | None
    bytes: Array | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the spans of modules, the nodes of autograd, the launches and the allocator's rows."""
        found = results.get(ModuleSpans)
        count = len(found.paths)
        thread, start_ns, end_ns, path = _nodes(trace, found)
        forward = found.spans
        spans = NestedSpans.of(
            np.concatenate((forward.thread, thread)),
            np.concatenate((forward.start_ns, start_ns)),
            np.concatenate((forward.end_ns, end_ns)),
        )
        path = np.concatenate((found.path, path))[spans.source]
        backward = _inherited(spans.source >= len(forward.thread), spans.parent)
        work = _PlacedWork(spans, path, backward, count)
        return cls(
            host_ns=_sums(path, backward, spans.own_ns(), count),
            device_ns=_device(trace, work),
            bytes=_allocated(trace, work),
        )


@dataclass(frozen=True, eq=False)
class _PlacedWork:
    """Spans with the path of each, and whether it belongs to a backward pass."""

    spans: NestedSpans
    path: Array
    backward: Array
    paths: int

    def sums(self, threads: Array, times: Array, amounts: Array) -> Array:
        """Amounts at instants of threads, by path: shape `(2, paths)`."""
        row = self.spans.at(threads, times)
        inside = row >= 0
        return _sums(self.path[row[inside]], self.backward[row[inside]], amounts[inside], self.paths)


def _sums(path: Array, backward: Array, amounts: Array, paths: int) -> Array:
    found = np.zeros((2, paths), np.int64)
    np.add.at(found, (backward.astype(np.int64), path), amounts)
    return found


def _inherited(flags: Array, parent: Array) -> Array:
    """True for rows that have the flag, or a row around them that has it."""
    found = flags.copy()
    for row in np.flatnonzero(parent >= 0).tolist() if flags.any() else ():
        found[row] |= found[parent[row]]
    return found


def _nodes(trace: Trace, found: ModuleSpans) -> tuple[Array, Array, Array, Array]:
    """Thread, start, end and path of the autograd nodes that a module made, those in one of the same path left out."""
    operators, maker = trace.operators, makers(trace)
    path = np.full(len(operators), -1, np.int64)
    rows = np.flatnonzero(maker >= 0)
    made_by = maker[rows]
    at = found.spans.at(operators["thread"][made_by].astype(np.int64), operators["start_ns"][made_by])
    path[rows[at >= 0]] = found.path[at[at >= 0]]
    parent = operators["parent"]
    nodes = np.flatnonzero((path >= 0) & backward_mask(trace))
    nodes = nodes[picked(path, parent[nodes]) != path[nodes]]
    starts = operators["start_ns"][nodes]
    return (
        operators["thread"][nodes].astype(np.int64),
        starts,
        starts + operators["duration_ns"][nodes],
        path[nodes],
    )


def _device(trace: Trace, work: _PlacedWork) -> Array | None:
    if not trace.device_recorded:
        return None
    threads, times = issued_at(trace, trace.device_events)
    known = threads >= 0
    return work.sums(threads[known], times[known], trace.device_events["duration_ns"][known])


def _allocated(trace: Trace, work: _PlacedWork) -> Array | None:
    memory = trace.memory
    if not len(memory):
        return None
    on_device = memory["device_type"] != MemoryDevice.CPU
    memory = memory.take(on_device if on_device.any() else ~on_device)
    return work.sums(memory["thread"].astype(np.int64), memory["time_ns"], memory["bytes"])
