"""When which module ran, from the best source that the recording has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.modules.nested_spans import NestedSpans
from gpuprof.model.marked_modules import MarkedModules
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_FRAME = "nn.Module: "
# ranges that torch and its libraries make themselves
_NOT_USERS = ("ProfilerStep", "enumerate(DataLoader)#", "Optimizer.", "gpuprof.", "nccl:", "gloo:", "mpi:", "[pl]")

Path = tuple[str, ...]


class ModuleSource(StrEnum):
    """What modules were found from: `calls` that gpuprof marked, `frames` of recorded Python stacks, or `ranges`,
    which the program itself named and which need not be modules."""

    CALLS = "calls"
    FRAMES = "frames"
    RANGES = "ranges"


@dataclass(frozen=True, eq=False)
class ModuleSpans(Result):
    """`spans`: one for each call of a module, forward only; `path[i]` is row of `paths` for span i. `source` is None
    where no module is known. `kinds`: class of the module at each path, "" where unknown.

    `marked_share`: part of the recording in which modules were marked, 0..1. A call that reaches into a time without
    marks is left out.
    """

    source: ModuleSource | None
    paths: tuple[Path, ...]
    kinds: tuple[str, ...]
    spans: NestedSpans
    path: Array
    marked_share: float

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the marked calls, else the frames, else the ranges."""
        marked = trace.context.modules
        if marked is not None and len(trace.module_calls):
            return cls._of_calls(trace, marked)
        frames = trace.frames.take(trace.name_mask(trace.frames, _FRAME))
        if len(frames):
            return cls._of_names(ModuleSource.FRAMES, trace, frames)
        ranges = trace.user_ranges.take(~trace.name_mask(trace.user_ranges, *_NOT_USERS))
        return cls._of_names(ModuleSource.RANGES if len(ranges) else None, trace, ranges)

    @classmethod
    def _of_calls(cls, trace: Trace, marked: MarkedModules) -> Self:
        ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
        calls = trace.module_calls
        starts = calls["start_ns"] + ahead_ns
        ends = starts + calls["duration_ns"]
        whole = _whole(starts, ends, [(begin + ahead_ns, end + ahead_ns) for begin, end in marked.gaps_ns])
        whole &= (calls["module"] >= 0) & (calls["module"] < len(marked.modules))
        rows = np.flatnonzero(whole)
        spans = NestedSpans.of(_threads(trace, calls["tid"][rows]), starts[rows], ends[rows])
        module = calls["module"][rows][spans.source]
        names = _Paths()
        path: list[int] = []
        for number, parent in zip(module.tolist(), spans.parent.tolist(), strict=True):
            described = marked.modules[number]
            above = path[parent] if parent >= 0 else -1
            path.append(names.of_module(number, described.kind, described.paths, above))
        length = marked.end_ns - marked.start_ns
        missed = sum(end - begin for begin, end in marked.gaps_ns)
        share = 1 - missed / length if length > 0 else 1.0
        return cls(ModuleSource.CALLS, *names.found(), spans, np.array(path, np.int64), max(share, 0.0))

    @classmethod
    def _of_names(cls, source: ModuleSource | None, trace: Trace, table: Table) -> Self:
        starts = table["start_ns"]
        spans = NestedSpans.of(table["thread"], starts, starts + table["duration_ns"])
        texts = [trace.names[index].removeprefix(_FRAME) for index in table["name"][spans.source].tolist()]
        frames = source is ModuleSource.FRAMES
        homes = _homes(texts, spans.parent.tolist()) if frames else {}
        names = _Paths()
        path: list[int] = []
        for text, parent in zip(texts, spans.parent.tolist(), strict=True):
            above = path[parent] if parent >= 0 else names.row(homes[text]) if text in homes else -1
            path.append(names.below(above, text, text.rpartition("_")[0] if frames else ""))
        return cls(source, *names.found(), spans, np.array(path, np.int64), 1.0)


def _homes(texts: list[str], parents: list[int]) -> dict[str, Path]:
    """Where modules hang that also run on their own, as where a checkpoint runs them again: the path above them.

    Frames number the modules of a class, so one name is one module.
    """
    alone = {text for text, parent in zip(texts, parents, strict=True) if parent < 0}
    paths: list[Path] = []
    homes: dict[str, Path] = {}
    for text, parent in zip(texts, parents, strict=True):
        above = paths[parent] if parent >= 0 else ()
        paths.append((*above, text))
        if text in alone and above and above[0] != text:
            homes.setdefault(text, above)
    # the way up has to end at a module that runs on its own only
    return {text: above for text, above in homes.items() if above[0] not in homes}


class _Paths:
    """Every path that occurs, each once."""

    def __init__(self) -> None:
        self._rows: dict[Path, int] = {}
        self._all: list[Path] = []
        self._kinds: list[str] = []
        self._known: dict[tuple[int, int], int] = {}

    def below(self, above: int, name: str, kind: str) -> int:
        """The row of `name` below the path of row `above` (-1: at the top)."""
        return self.row((*(self._all[above] if above >= 0 else ()), name), kind)

    def of_module(self, number: int, kind: str, paths: tuple[str, ...], above: int) -> int:
        """The row of a module: of its paths the one that shares most with that of its caller; without any, its class
        below its caller."""
        row = self._known.get((number, above))
        if row is None:
            around = self._all[above] if above >= 0 else ()
            given = [tuple(path.split(".")) for path in paths]
            chosen = max(given, key=lambda path: _common(path, around)) if given else (*around, kind)
            row = self._known[number, above] = self.row(chosen, kind)
        return row

    def found(self) -> tuple[tuple[Path, ...], tuple[str, ...]]:
        """All of them, and the classes there."""
        return tuple(self._all), tuple(self._kinds)

    def row(self, path: Path, kind: str = "") -> int:
        """The row of that path; the first class that is given for it stays."""
        row = self._rows.setdefault(path, len(self._rows))
        if row == len(self._all):
            self._all.append(path)
            self._kinds.append(kind)
        self._kinds[row] = self._kinds[row] or kind
        return row


def _common(path: Path, around: Path) -> int:
    same = 0
    for mine, other in zip(path, around, strict=False):
        if mine != other:
            break
        same += 1
    return same


def _whole(starts: Array, ends: Array, gaps: list[tuple[int, int]]) -> Array:
    """Boolean mask: which intervals touch no gap."""
    whole = np.ones(len(starts), bool)
    for begin, end in gaps:
        whole &= (ends <= begin) | (starts >= end)
    return whole


def _threads(trace: Trace, tids: Array) -> Array:
    """Rows of `threads`; below -1, and each its own, for threads of which the trace shows nothing."""
    rows = -2 - np.unique(tids, return_inverse=True)[1].reshape(-1)
    known = trace.threads["tid"]
    for tid in np.unique(tids):
        there = np.flatnonzero(known == tid)
        if len(there):
            rows[tids == tid] = there[0]
    return rows
