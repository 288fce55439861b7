"""Cats of which each takes the result of the one before, by the shapes that were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from gpuprof.analyses.basics.tensor_inputs import Shape, shapes_of
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# what torch puts around the cat itself
_AROUND = ("aten::vstack", "aten::hstack", "aten::dstack", "aten::concat", "aten::concatenate", "aten::column_stack")
_USED_SHARE = 0.5
Spans = dict[int, tuple[int, int]]


@dataclass
class CatChain:
    """`rows` of cats, and the shape that came of each; they are sure once the chain has two."""

    dimension: int = 0
    rows: list[int] = field(default_factory=list)
    results: list[Shape] = field(default_factory=list)

    def add(self, row: int, shape: Shape) -> None:
        """The next cat."""
        self.rows.append(row)
        self.results.append(shape)


def cat_chains(trace: Trace, rows: Array, least: int) -> list[tuple[CatChain, bool]]:
    """Those of at least `least` of these cats (rows of `operators`, in order), and whether each tensor is used between.

    It is where in half of the turns or more another operator of the main thread takes a tensor of just that shape.
    """
    chains = [chain for chain in _chains(trace, rows.tolist()) if len(chain.rows) >= least]
    return list(zip(chains, _used_between(trace, chains), strict=True))


def _chains(trace: Trace, rows: list[int]) -> list[CatChain]:
    chains: list[CatChain] = []
    # by the shape of its last result: a chain, the dimension that would have grown, and its length at that time
    waiting: dict[Shape, list[tuple[CatChain, int, int]]] = {}
    for row, shapes, joined in _linked(trace, rows):
        chain = _continued(waiting, shapes, joined)
        if chain is None:
            chain = CatChain()
            chains.append(chain)
        else:
            joined = {chain.dimension: joined[chain.dimension]}
        chain.add(row, next(iter(joined.values())))
        for along, shape in joined.items():
            waiting.setdefault(shape, []).append((chain, along, len(chain.rows)))
    return chains


def _linked(trace: Trace, rows: list[int]) -> Iterator[tuple[int, tuple[Shape, ...], dict[int, Shape]]]:
    """Row, inputs and possible results of each cat but for those that can be in no chain, which are most in a model."""
    kinds = trace.operators["input_dims"][rows].tolist()
    inputs = {kind: shapes_of(trace, row) for kind, row in dict(zip(kinds, rows, strict=True)).items()}
    joined = {kind: _joined(shapes) for kind, shapes in inputs.items()}
    given = {shape for shapes in inputs.values() for shape in shapes}
    made = {shape for results in joined.values() for shape in results.values()}
    linked = {
        kind
        for kind, shapes in inputs.items()
        if not given.isdisjoint(joined[kind].values()) or not made.isdisjoint(shapes)
    }
    for row, kind in zip(rows, kinds, strict=True):
        if kind in linked and joined[kind]:
            yield row, inputs[kind], joined[kind]


def _continued(
    waiting: dict[Shape, list[tuple[CatChain, int, int]]], shapes: tuple[Shape, ...], joined: dict[int, Shape]
) -> CatChain | None:
    """The chain whose last result is one of these inputs, and grows along the same dimension again."""
    for shape in dict.fromkeys(shapes):
        places = waiting.get(shape, [])
        for place, (chain, along, length) in enumerate(places):
            if len(chain.rows) == length and along in joined and joined[along] != shape:
                del places[place]
                chain.dimension, chain.results[-1] = along, shape
                return chain
    return None


def _joined(shapes: tuple[Shape, ...]) -> dict[int, Shape]:
    """What a cat of these shapes gives, by the dimension along which they are joined: all those that are possible."""
    # torch leaves out tensors without elements that have one dimension
    kept = [shape for shape in shapes if shape != (0,)]
    if len(shapes) < 2 or not kept or any(len(shape) != len(kept[0]) for shape in kept):
        return {}
    sizes, first = list(zip(*kept, strict=True)), kept[0]
    differing = [along for along, each in enumerate(sizes) if len(set(each)) > 1]
    if len(differing) > 1:
        return {}
    return {along: (*first[:along], sum(sizes[along]), *first[along + 1 :]) for along in differing or range(len(first))}


def _used_between(trace: Trace, chains: list[CatChain]) -> list[bool]:
    whole = _whole(trace, np.array([row for chain in chains for row in chain.rows], np.int64))
    numbers: dict[Shape, int] = {}
    turns = [
        (place, numbers.setdefault(shape, len(numbers)), whole[row][1], whole[following][0])
        for place, chain in enumerate(chains)
        for row, following, shape in zip(chain.rows, chain.rows[1:], chain.results, strict=False)
    ]
    if not turns:
        return [False] * len(chains)
    chain_of, number, begin, end = np.array(turns, np.int64).T
    taken, at = _takers(trace, numbers, whole)
    # number of the shape and instant as one key
    width = 2 * max(trace.span_ns, 1)
    keys = np.sort(taken * width + (at - trace.span_start_ns))
    before, until = (np.searchsorted(keys, number * width + (times - trace.span_start_ns)) for times in (begin, end))
    uses = np.bincount(chain_of, weights=until > before, minlength=len(chains))
    count = np.bincount(chain_of, minlength=len(chains))
    return [bool(used) for used in uses >= _USED_SHARE * np.maximum(count, 1)]


def _whole(trace: Trace, rows: Array) -> Spans:
    """When each cat ran, with what torch puts around it (`aten::vstack`)."""
    operators = trace.operators
    around = np.array([name in _AROUND for name in trace.names], bool)
    outer = rows.copy()
    while len(outer):
        above = operators["parent"][outer]
        higher = (above >= 0) & around[operators["name"][above]]
        if not higher.any():
            break
        outer = np.where(higher, above, outer)
    starts = operators["start_ns"][outer]
    ends = starts + operators["duration_ns"][outer]
    return dict(zip(rows.tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True))


def _takers(trace: Trace, numbers: dict[Shape, int], whole: Spans) -> tuple[Array, Array]:
    """Number of the shape and instant for each time that an operator outside these cats takes one of the shapes."""
    operators = trace.operators
    starts, ends = np.array(list(whole.values()), np.int64).reshape(-1, 2).T
    other = (operators["thread"] == trace.main_thread) & (operators["input_dims"] >= 0)
    other &= ~intervals.contains(intervals.union(Intervals(starts, ends)), operators["start_ns"])
    rows = np.flatnonzero(other)
    _, first, place = np.unique(operators["input_dims"][rows], return_index=True, return_inverse=True)
    by_kind = np.argsort(place, kind="stable")
    times = np.split(operators["start_ns"][rows[by_kind]], np.cumsum(np.bincount(place, minlength=len(first)))[:-1])
    found: list[tuple[Array, Array]] = []
    for mine, row in zip(times, rows[first].tolist(), strict=False):
        known = {numbers[shape] for shape in shapes_of(trace, row) if shape in numbers}
        found += [(np.full(len(mine), each, np.int64), mine) for each in known]
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *(each[0] for each in found)]), np.concatenate([empty, *(each[1] for each in found)])
