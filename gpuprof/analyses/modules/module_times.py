"""Time and memory by module, as a tree of paths: `Net`, `Net.layers`, `Net.layers.0`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.modules.module_spans import ModuleSource, ModuleSpans, Path
from gpuprof.analyses.modules.module_work import ModuleWork
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class ModuleTime:
    """One path. Times are of the module and all below it, `own_` without those below; forward and backward together,
    `backward_` of the latter alone. `path` and `kind`, its class ("" where unknown or where it is never called itself).

    `host_share`: of the recorded time; `device_share`: of all device time; 0..1, and for several threads or streams
    more. Both are scaled up where modules were marked for a part of the recording only; times are as measured.
    `grown_bytes`: allocated less released during its forward calls. None: unknown.
    """

    path: Path
    kind: str
    calls: int
    host_ns: int
    own_host_ns: int
    backward_host_ns: int
    host_share: float
    device_ns: int | None = None
    own_device_ns: int | None = None
    backward_device_ns: int | None = None
    device_share: float | None = None
    grown_bytes: int | None = None


@dataclass(frozen=True)
class ModuleTimes(Result):
    """`times`: parents before what is below them, otherwise in the order of their first calls; empty where no module is
    known. `source` and `marked_share` as in ModuleSpans. `covered_ns`: host time of all of them, over all threads: what
    their own times add up to. `device_ns`: of all device work, theirs or not.
    """

    source: ModuleSource | None
    times: tuple[ModuleTime, ...]
    marked_share: float
    covered_ns: int
    device_ns: int | None

    @property
    def roots(self) -> tuple[ModuleTime, ...]:
        """Those at the top."""
        return tuple(each for each in self.times if len(each.path) == 1)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the work of each path."""
        spans, work = results.get(ModuleSpans), results.get(ModuleWork)
        device_ns = int(trace.device_events["duration_ns"].sum()) if trace.device_recorded else None
        tree = _Tree(spans.paths)
        calls = np.bincount(spans.path, minlength=len(spans.paths))
        scale = spans.marked_share or 1.0
        whole = (max(trace.span_ns, 1) * scale, max(device_ns or 0, 1) * scale)
        host, host_below = tree.own(work.host_ns), tree.inclusive(work.host_ns)
        device = None if work.device_ns is None else (tree.own(work.device_ns), tree.inclusive(work.device_ns))
        grown = None if work.bytes is None else tree.inclusive(work.bytes)
        times = []
        for row, path in enumerate(tree.paths):
            given = tree.given[row]
            times.append(
                ModuleTime(
                    path=path,
                    kind=spans.kinds[given] if given >= 0 else "",
                    calls=int(calls[given]) if given >= 0 else 0,
                    host_ns=int(host_below[:, row].sum()),
                    own_host_ns=int(host[:, row].sum()),
                    backward_host_ns=int(host_below[1, row]),
                    host_share=float(host_below[:, row].sum() / whole[0]),
                    grown_bytes=None if grown is None else int(grown[0, row]),
                )
            )
            if device is not None:
                times[-1] = _with_device(times[-1], device[0][:, row], device[1][:, row], whole[1])
        return cls(spans.source, tuple(times), spans.marked_share, int(work.host_ns.sum()), device_ns)


def _with_device(time: ModuleTime, own: Array, below: Array, whole: float) -> ModuleTime:
    return replace(
        time,
        device_ns=int(below.sum()),
        own_device_ns=int(own.sum()),
        backward_device_ns=int(below[1]),
        device_share=float(below.sum() / whole),
    )


class _Tree:
    """Every path and what is above it, parents first. `given`: the row among the given paths, -1 for one that is only
    above others (a ModuleList)."""

    def __init__(self, paths: tuple[Path, ...]):
        row_of = {path: row for row, path in enumerate(paths)}
        below: dict[Path, list[Path]] = {}
        seen: set[Path] = set()
        for path in paths:
            for depth in range(1, len(path) + 1):
                if path[:depth] not in seen:
                    seen.add(path[:depth])
                    below.setdefault(path[: depth - 1], []).append(path[:depth])
        self.paths: list[Path] = []
        self._parent: list[int] = []
        waiting = [(path, -1) for path in reversed(below.get((), []))]
        while waiting:
            path, parent = waiting.pop()
            waiting.extend((each, len(self.paths)) for each in reversed(below.get(path, [])))
            self.paths.append(path)
            self._parent.append(parent)
        self.given = [row_of.get(path, -1) for path in self.paths]

    def own(self, amounts: Array) -> Array:
        """Amounts by given path, shape `(2, given)`, as amounts by path: shape `(2, paths)`."""
        rows = np.array(self.given, np.int64)
        return (
            np.where(rows >= 0, amounts[:, np.maximum(rows, 0)], 0) if amounts.size else np.zeros((2, len(rows)), int)
        )

    def inclusive(self, amounts: Array) -> Array:
        """The same, each with all below it."""
        found = self.own(amounts)
        for row in range(len(self.paths) - 1, -1, -1):
            if self._parent[row] >= 0:
                found[:, self._parent[row]] += found[:, row]
        return found
