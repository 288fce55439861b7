"""The line of the user's code that takes most of the wait for batches, where the waiting thread makes them itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.called import called, called_by_text
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.analyses.loading.input_pipeline import InputPipeline
from gpuprof.analyses.loading.reading_calls import reads
from gpuprof.analyses.loading.stalling_loader import StallingLoader
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.model import intervals
from gpuprof.model.context import Loader, SampledStacks
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

# of the wait: a line with less is one of several that take it
MOST_OF_IT = 0.5
_FEWEST_LOOKS = 20
_LOADING = "torch/utils/data/"


@dataclass(frozen=True)
class WaitLine:
    """`line` of `file` (as it was sampled), with `share` of the wait, 0..1, in it and all that it calls.

    `is_cell`: the profiled cell; `execution_count`: the number of the cell that it is, None for a module. `call`: what
    it called for most of that time, a library's function or one of the user's own; empty where it is the line's own
    code. `call_share` of the line's time, 0..1. `reads`: most of the line's time reads or decodes stored data.
    `inner_line`: the innermost line of the same file below it that holds half of its time or more, with `inner_share`
    of the wait; None where there is none.
    """

    file: str
    is_cell: bool
    execution_count: int | None
    line: int
    share: float
    call: str
    call_share: float
    reads: bool
    inner_line: int | None = None
    inner_share: float = 0.0


@dataclass(frozen=True)
class WaitLines(Result):
    """`line`: the innermost line of the dataset's, the collate function's or a transform's that holds half of the wait
    or more, over the whole cell; None where there is none, where workers make the batches, or where the stack was
    seldom looked at while the thread waited. `seen_ns`: the wait, as far as it was sampled."""

    line: WaitLine | None
    seen_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the samples that lie in the waits for the loader that the steps wait for longest."""
        stacks, samples = trace.context.stacks, trace.stack_samples
        waits = _waits(trace, results)
        if stacks is None or not len(samples) or results.get(WorkerPlan).workers != 0 or not len(waits.starts):
            return cls(None, 0)
        # until the next look the wait may be over: the stack of the look itself tells
        start = samples["start_ns"] + (trace.context.sampling.get("clock_offset_ns") or 0)
        rows = np.flatnonzero(intervals.contains(waits, start) & (samples["node"] >= 0))
        reader = _WaitReader(trace, stacks, samples["node"][rows].astype(np.int64), samples["duration_ns"][rows])
        if reader.seen_ns * stacks.rate_hz < _FEWEST_LOOKS * NS_PER_S:
            return cls(None, reader.seen_ns)
        return cls(reader.line(), reader.seen_ns)


def _waits(trace: Trace, results: Results) -> Intervals:
    """All over the cell, where the loader noted them; else those that were recorded."""
    known = results.get(StallingLoader).loader
    mine = [each for each in trace.context.loaders if known is not None and _key(each) == _key(known)]
    starts = np.array([at for each in mine for at, _ in _noted(each)], np.int64)
    lasted = np.array([ns for each in mine for _, ns in _noted(each)], np.int64)
    noted = intervals.union(Intervals(starts, starts + lasted))
    return noted if len(noted.starts) else intervals.union(results.get(InputPipeline).waits)


def _key(loader: Loader) -> tuple[object, ...]:
    return loader.line, loader.dataset, loader.workers


def _noted(loader: Loader) -> list[tuple[int, int]]:
    return list(zip(loader.wait_start_ns, loader.wait_ns, strict=False))


class _WaitReader:
    """The stacks in the waits, with the time spent in each: those that the loader's own code is on."""

    def __init__(self, trace: Trace, stacks: SampledStacks, node: Array, spent: Array):
        self._trace, self._stacks = trace, stacks
        self._places, self._own = own_frames(trace, stacks)
        self._parent = trace.stack_nodes["parent"]
        leaves, of_leaf = np.unique(node, return_inverse=True)
        by_leaf = np.bincount(of_leaf.reshape(-1), spent, len(leaves)).tolist()
        within = [(leaf, ns) for leaf, ns in zip(leaves.tolist(), by_leaf, strict=True) if self._in_loader(leaf)]
        self._leaves: list[int] = [leaf for leaf, _ in within]
        self._by_leaf: list[float] = [ns for _, ns in within]
        self.seen_ns = int(sum(self._by_leaf))

    def line(self) -> WaitLine | None:
        """The innermost with most of the wait."""
        whole = sum(self._by_leaf)
        chosen = self._innermost(range(len(self._leaves)), MOST_OF_IT * whole)
        return None if chosen is None else self._described(*chosen)

    def _innermost(self, rows: Sequence[int], least: float) -> tuple[tuple[int, int], float] | None:
        """The innermost line that holds so much, by these stacks, and what it holds."""
        held, depth = dict[tuple[int, int], float](), dict[tuple[int, int], int]()
        for at in rows:
            places = dict.fromkeys(self._place(each) for each in self._within_loader(self._leaves[at]))
            for level, place in enumerate(places):
                held[place] = held.get(place, 0.0) + self._by_leaf[at]
                depth[place] = max(depth.get(place, 0), level)
        most = [place for place, ns in held.items() if ns >= least and place[1] > 0]
        chosen = max(most, key=lambda place: (depth[place], held[place]), default=None)
        return None if chosen is None else (chosen, held[chosen])

    def _described(self, place: tuple[int, int], whole: float) -> WaitLine:
        file = self._trace.context.described(self._stacks.files[place[0]])
        rows = [
            at
            for at, leaf in enumerate(self._leaves)
            if any(self._place(each) == place for each in self._within_loader(leaf))
        ]
        inner = self._innermost(rows, MOST_OF_IT * whole)
        inside = inner is not None and inner[0] != place and inner[0][0] == place[0]
        mine = [at for at in rows if self._place(int(self._own[self._leaves[at]])) == place]
        below = self._below(place, rows)
        if 2 * sum(self._by_leaf[at] for at in mine) >= whole:
            node, spent = (np.array([values[at] for at in mine]) for values in (self._leaves, self._by_leaf))
            call, call_share = called(self._trace, self._stacks, node, spent, self._own)
            bare = [at for at in mine if self._own[self._leaves[at]] == self._leaves[at]]
        else:
            call, call_share = self._own_call(place, rows)
            bare = []
        reading = [name for name, ns in below.items() if reads(name) and 2 * ns >= whole]
        source = file.source
        if not call and source and 2 * sum(self._by_leaf[at] for at in bare) >= whole:
            # what is built in has no frame: the text has its name
            call, call_share = called_by_text(source, place[1], {name.rpartition(".")[2] for name in below}), 1.0
            reading += [name for name in (call, *_calls(source, place[1])) if reads(name)]
        return WaitLine(
            file=file.filename,
            is_cell=file.kind == "cell",
            execution_count=file.execution_count,
            line=place[1],
            share=whole / sum(self._by_leaf),
            call=call,
            call_share=call_share if call else 0.0,
            reads=bool(reading),
            inner_line=inner[0][1] if inner and inside else None,
            inner_share=inner[1] / sum(self._by_leaf) if inner and inside else 0.0,
        )

    def _below(self, place: tuple[int, int], rows: list[int]) -> dict[str, float]:
        """The time in each library's function below the line."""
        found = dict[str, float]()
        for at in rows:
            names, here = set[str](), self._leaves[at]
            while here >= 0 and self._place(here) != place:
                if self._own[here] != here:
                    names.add(self._name(here))
                here = int(self._parent[here])
            for name in names:
                found[name] = found.get(name, 0.0) + self._by_leaf[at]
        return found

    def _own_call(self, place: tuple[int, int], rows: list[int]) -> tuple[str, float]:
        """The function of the user's own that the line called for longest, and its share of the line's time."""
        found = dict[str, float]()
        for at in rows:
            inner, here = -1, int(self._own[self._leaves[at]])
            while here >= 0 and self._place(here) != place:
                inner, parent = here, int(self._parent[here])
                here = int(self._own[parent]) if parent >= 0 else -1
            if inner >= 0:
                name = self._stacks.functions[int(self._places[inner][2])]
                found[name] = found.get(name, 0.0) + self._by_leaf[at]
        most = max(found, key=lambda name: found[name], default="")
        return most, found[most] / sum(self._by_leaf[at] for at in rows) if most else 0.0

    def _within_loader(self, leaf: int) -> list[int]:
        """The frames of the user's code that the loader called, outermost first."""
        found, passed, here = list[int](), list[int](), leaf
        while here >= 0:
            if self._own[here] == here:
                passed.append(here)
            elif self._is_loader(here):
                found += passed
                passed = []
            here = int(self._parent[here])
        return found[::-1]

    def _in_loader(self, leaf: int) -> bool:
        while leaf >= 0 and not self._is_loader(leaf):
            leaf = int(self._parent[leaf])
        return leaf >= 0

    def _is_loader(self, node: int) -> bool:
        return self._stacks.files[int(self._places[node][0])].filename.replace("\\", "/").startswith(_LOADING)

    def _place(self, node: int) -> tuple[int, int]:
        return (int(self._places[node][0]), int(self._places[node][1])) if node >= 0 else (-1, -1)

    def _name(self, node: int) -> str:
        file = self._stacks.files[int(self._places[node][0])].filename.replace("\\", "/")
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return f"{module}.{self._stacks.functions[int(self._places[node][2])]}"


def _calls(source: str, line: int) -> list[str]:
    """The last parts of the names that the line calls."""
    functions = [each.func for each in expressions_at(source, line) if isinstance(each, ast.Call)]
    names = [each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in functions]
    return [each for each in names if each]
