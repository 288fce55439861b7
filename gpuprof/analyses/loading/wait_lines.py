"""The line of the user's code that takes most of the wait for batches, where the waiting thread makes them itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.called import called, called_by_text
from gpuprof.analyses.accounts.hot_spots import own_frames
from gpuprof.analyses.basics.result import Result, Results
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
    """

    file: str
    is_cell: bool
    execution_count: int | None
    line: int
    share: float
    call: str
    call_share: float
    reads: bool


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
        # samples that share a stack stand in one row, and count as far as they lie in a wait
        start = samples["start_ns"] + (trace.context.sampling.get("clock_offset_ns") or 0)
        spent = intervals.covered(waits, start, start + samples["duration_ns"])
        rows = np.flatnonzero((spent > 0) & (samples["node"] >= 0))
        node, spent = samples["node"][rows].astype(np.int64), spent[rows]
        seen_ns = int(spent.sum())
        if seen_ns * stacks.rate_hz < _FEWEST_LOOKS * NS_PER_S:
            return cls(None, seen_ns)
        return cls(_WaitReader(trace, stacks, node, spent).line(), seen_ns)


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
    """The stacks in the waits: `node` and the time `spent` in each."""

    def __init__(self, trace: Trace, stacks: SampledStacks, node: Array, spent: Array):
        self._trace, self._stacks, self._node, self._spent = trace, stacks, node, spent
        self._places, self._own = own_frames(trace, stacks)
        self._parent = trace.stack_nodes["parent"]
        leaves, of_leaf = np.unique(node, return_inverse=True)
        self._leaves: list[int] = leaves.tolist()
        self._by_leaf: list[float] = np.bincount(of_leaf.reshape(-1), spent, len(leaves)).tolist()

    def line(self) -> WaitLine | None:
        """The innermost with most of the wait."""
        held, depth = dict[tuple[int, int], float](), dict[tuple[int, int], int]()
        for leaf, ns in zip(self._leaves, self._by_leaf, strict=True):
            for level, place in enumerate(dict.fromkeys(self._place(each) for each in self._within_loader(leaf))):
                held[place] = held.get(place, 0.0) + ns
                depth[place] = max(depth.get(place, 0), level)
        whole = float(self._spent.sum())
        most = [place for place, ns in held.items() if ns >= MOST_OF_IT * whole and place[1] > 0]
        if not most:
            return None
        chosen = max(most, key=lambda place: (depth[place], held[place]))
        return self._described(chosen, held[chosen] / whole)

    def _described(self, place: tuple[int, int], share: float) -> WaitLine:
        file, cell = self._stacks.files[place[0]], self._trace.context.cell
        rows = [
            at
            for at, leaf in enumerate(self._leaves)
            if any(self._place(each) == place for each in self._within_loader(leaf))
        ]
        whole = sum(self._by_leaf[at] for at in rows)
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
        source = cell.source if file.kind == "cell" and cell else file.source
        if not call and source and 2 * sum(self._by_leaf[at] for at in bare) >= whole:
            # what is built in has no frame: the text has its name
            call, call_share = called_by_text(source, place[1], {name.rpartition(".")[2] for name in below}), 1.0
            reading += [name for name in (call, *_calls(source, place[1])) if reads(name)]
        return WaitLine(
            file=file.filename,
            is_cell=file.kind == "cell",
            execution_count=cell.execution_count if file.kind == "cell" and cell else file.execution_count,
            line=place[1],
            share=share,
            call=call,
            call_share=call_share if call else 0.0,
            reads=bool(reading),
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
            elif self._stacks.files[int(self._places[here][0])].filename.replace("\\", "/").startswith(_LOADING):
                found += passed
                passed = []
            here = int(self._parent[here])
        return found[::-1]

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
