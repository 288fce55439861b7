"""Losses of several iterations of a loop that are added up, and that one backward pass goes through together."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.analyses.loops.written_loops import notebook_sources, written_loops
from gpuprof.analyses.memory.kept_memory import DeviceKept, memory_of
from gpuprof.analyses.training.loss_graphs import LossGraph, LossGraphs
from gpuprof.model.look import LookedPlace
from gpuprof.model.trace import Trace

_FEWEST = 2


@dataclass(frozen=True, eq=False)
class LossSum:
    """The losses of `losses` iterations of the loop that begins in line `loop` (of the file of its places; 0: its text
    is not known).

    `added_at`, `backward_at`: rows of the looked places, where they are added up, and where the backward pass is
    called; -1: not known. Of what the forward passes made the backward pass read `kept_bytes`, all of which was there
    when it began; of one iteration `largest_bytes` at most, on `device`. `memory`: how that moved in the cell.
    """

    losses: int
    loop: int
    added_at: int
    backward_at: int
    kept_bytes: int
    largest_bytes: int
    device: str
    memory: DeviceKept

    @property
    def needless_bytes(self) -> int:
        """What is kept of the iterations besides the largest one."""
        return self.kept_bytes - self.largest_bytes


@dataclass(frozen=True, eq=False)
class SummedLosses(Result):
    """The sum whose iterations keep most; None where there is none. An iteration may read weights, inputs and what is
    detached of others; none reads a result of another, or one with a graph that was made before the loop.
    """

    found: LossSum | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the graph of each backward pass of the close look."""
        sums = [each for graph in LossGraphs(trace, results.get(ValueGraph)) for each in _sums(trace, results, graph)]
        return cls(max(sums, key=lambda each: each.needless_bytes, default=None))


def _sums(trace: Trace, results: Results, graph: LossGraph) -> Iterator[LossSum]:
    kinds = defaultdict[Hashable, list[Sequence[int]]](list)
    for part in graph.parts:
        kinds[graph.kind(part)].append(part)
    loops = defaultdict[int, list[list[Sequence[int]]]](list)
    for parts in kinds.values():
        loop = _loop(trace, graph, parts[0])
        if len(parts) >= _FEWEST and loop is not None and _one_by_one(parts):
            loops[loop].append(parts)
    for loop, each in loops.items():
        sizes = [[graph.kept(part) for part in parts] for parts in each]
        for device in sorted({device for parts in sizes for size in parts for device in size}):
            here = [[size.get(device, 0) for size in parts] for parts in sizes]
            yield LossSum(
                losses=max(map(len, each)),
                loop=loop,
                added_at=graph.added_at,
                backward_at=graph.backward_at,
                kept_bytes=sum(map(sum, here)),
                largest_bytes=sum(map(max, here)),
                device=device,
                memory=memory_of(trace, results, device),
            )


def _one_by_one(parts: Sequence[Sequence[int]]) -> bool:
    """Whether each ends before the next one begins."""
    spans = sorted((part[0], part[-1]) for part in parts)
    return all(before[1] < after[0] for before, after in itertools.pairwise(spans))


def _loop(trace: Trace, graph: LossGraph, part: Sequence[int]) -> int | None:
    """The line of the innermost loop that holds what the part ran for, and not the backward pass; 0 where the text is
    not known, None where there is none."""
    inner, outer = graph.path(part[0]), graph.path_of_pass
    while len(inner) > 1 and len(outer) > 1 and inner[-1] == outer[-1]:
        inner, outer = inner[:-1], outer[:-1]
    if not inner or not outer:
        return 0
    place, backward = inner[-1], outer[-1]
    source = _source(trace, place)
    if source is None:
        return 0
    file, text = source
    around = [each for each in written_loops(file, text) if each.holds(file, place.line)]
    own = [each for each in around if place.file != backward.file or not each.holds(file, backward.line)]
    return max((each.line for each in own), default=None)


def _source(trace: Trace, place: LookedPlace) -> tuple[str, str] | None:
    cell = trace.context.cell
    sources = dict(notebook_sources(trace))
    file = "" if cell is not None and place.file in ("", cell.filename) else place.file
    return (file, sources[file]) if file in sources else None
