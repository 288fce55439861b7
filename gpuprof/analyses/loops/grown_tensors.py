"""Tensors that a loop makes longer by `torch.cat`, so that all of each is copied in every turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.basics.tensor_inputs import Shape, shapes_of
from gpuprof.analyses.kernels.kernel_origins import KernelOrigins
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.cat_chains import cat_chains
from gpuprof.analyses.loops.growing_lines import GrowingLines
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

LEAST_TURNS = 10
_COMPILED = "Torch-Compiled Region"
# of the span: where all cats together take less, nothing is looked for
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class GrownTensor:
    """One tensor. `cats`: its cats in order, places in `GrownTensors.cats`. `dimension` is the one that grows, `shape`
    what came of the last cat; None without shapes. `lines` of the cell (1-based) make it longer, where that is known:
    by the lines that were followed, else all those that the source shows to do so.
    """

    cats: Array
    dimension: int | None
    shape: Shape | None
    lines: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GrownTensors(Result):
    """`cats`: every `aten::cat` of the main thread outside backward, rows of `operators` in order of start.

    `kernels`: for each kernel of KernelOrigins the cat that launched it (a place in `cats`), -1 for others. `cost_ns`:
    what each cat took on the device where it launched kernels, else on the host. `start_ns`, `duration_ns`: of each on
    the host. `freeing_ns`: from the end of each that launched nothing to the next operator, no more than the cat took:
    there the memory of the shorter tensor goes back, beside whatever Python does. All of the shape of `cats`.

    `tensors`: each result of a cat was an input of the next, at least LEAST_TURNS times, along one dimension, and
    nothing else used the whole tensor in between, as a decoder does with the keys and values that it keeps; the
    costliest first. Where work was done of which no operator tells what it takes, the source must show that, too. By
    the shapes where they were recorded; else by the cell's source, where the line of each cat is known. `known`: one of
    the two was there, or all cats together take less than a hundredth of the span.
    """

    cats: Array
    kernels: Array
    cost_ns: Array
    start_ns: Array
    duration_ns: Array
    freeing_ns: Array
    tensors: tuple[GrownTensor, ...]
    known: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators, their recorded shapes, and the cell's source."""
        operators = trace.operators
        rows = np.flatnonzero(trace.name_mask(operators, "aten::cat") & (operators["thread"] == trace.main_thread))
        rows = rows[~intervals.contains(results.get(Phases).backward, operators["start_ns"][rows])]
        rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
        kernels = _launched_by(trace, results.get(KernelOrigins), rows)
        on_device = np.bincount(
            kernels[kernels >= 0], results.get(KernelOrigins).duration_ns[kernels >= 0], minlength=len(rows)
        )
        cost = np.where(on_device > 0, on_device, operators["duration_ns"][rows]).astype(np.int64)
        host = (operators["start_ns"][rows], operators["duration_ns"][rows], _freeing_ns(trace, rows, kernels, cost))
        if cost.sum() < _LEAST_SHARE * trace.span_ns or len(rows) < LEAST_TURNS:
            return cls(rows, kernels, cost, *host, (), True)
        found = _by_shapes(trace, results, rows)
        if found is None:
            found = _by_lines(trace, results, rows)
        ordered = sorted(found or (), key=lambda tensor: -int(cost[tensor.cats].sum()))
        return cls(rows, kernels, cost, *host, tuple(ordered), found is not None)

    def during(self, places: Array) -> Intervals:
        """The host in these cats (places in `cats`), a union."""
        starts = self.start_ns[places]
        return intervals.union(Intervals(starts, starts + self.duration_ns[places]))


def _freeing_ns(trace: Trace, cats: Array, kernels: Array, cost_ns: Array) -> Array:
    operators = trace.operators
    ends = operators["start_ns"][cats] + operators["duration_ns"][cats]
    starts = np.sort(operators["start_ns"][operators["thread"] == trace.main_thread])
    following = np.append(starts, trace.span_end_ns)[np.searchsorted(starts, ends)]
    alone = ~np.isin(np.arange(len(cats)), kernels)
    freeing: Array = np.where(alone, np.clip(following - ends, 0, cost_ns), 0)
    return freeing


def _launched_by(trace: Trace, kernels: KernelOrigins, cats: Array) -> Array:
    operators, operator = trace.operators, kernels.operator
    found = np.full(kernels.count, -1, np.int64)
    known = np.flatnonzero((operator >= 0) & (len(cats) > 0))
    known = known[operators["thread"][operator[known]] == trace.main_thread]
    starts, times = operators["start_ns"][cats], operators["start_ns"][operator[known]]
    at = np.searchsorted(starts, times, side="right") - 1
    ends = starts + operators["duration_ns"][cats]
    within = (at >= 0) & (times < ends[np.maximum(at, 0)]) if len(cats) else np.zeros(0, bool)
    found[known[within]] = at[within]
    return found


def _by_shapes(trace: Trace, results: Results, rows: Array) -> list[GrownTensor] | None:
    """None where the shapes of what was joined were not recorded."""
    if not any(len(shapes_of(trace, row)) > 1 for row in rows.tolist()):
        return None
    growing, places, opaque = results.get(GrowingLines), results.get(LinePlaces), _is_opaque(trace, results)
    found = []
    for chain, used in cat_chains(trace, rows, LEAST_TURNS):
        cats = trace.operators.take(np.array(chain.rows, np.int64))
        lines = places.lines_at(cats["thread"], cats["start_ns"], cats["duration_ns"])
        if not lines:
            lines = growing.lines if not growing.read else ()
            # what the source shows to be read is not in the operators where Python or NumPy reads it
            used |= bool(growing.read and not growing.lines)
        certain = bool(lines) and set(lines) <= set(growing.lines)
        if not used and (certain or not (opaque or set(lines) & set(growing.read))):
            place = np.searchsorted(trace.operators["start_ns"][rows], cats["start_ns"])
            found.append(GrownTensor(place, chain.dimension, chain.results[-1], lines))
    return found


def _is_opaque(trace: Trace, results: Results) -> bool:
    """Whether work was done of which no operator tells what it takes: compiled, or launched by code of its own."""
    regions = any(name.startswith(_COMPILED) for name in trace.names)
    return regions or bool((results.get(KernelOrigins).operator < 0).any())


def _by_lines(trace: Trace, results: Results, rows: Array) -> list[GrownTensor] | None:
    """None where it is not known which line of the cell each cat is in, or which of a line's cats is its own."""
    growing, places, operators = results.get(GrowingLines), results.get(LinePlaces), trace.operators
    at = places.at(operators["thread"][rows], operators["start_ns"][rows])
    if not growing.lines or not len(rows) or (at < 0).any():
        return None
    events, found = places.events, []
    for line in growing.lines:
        own = (events["source_file"] == 0) & (events["line"] == line)
        mine = np.flatnonzero(own[at])
        # a model that is called in the same line may have cats of its own
        if len(mine) > int((own & events["begins"]).sum()):
            return None
        if len(mine) >= LEAST_TURNS:
            found.append(GrownTensor(mine, None, None, (line,)))
    return found
