"""Memory of the process that comes and goes with a broadcast that is reduced at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_memory import resident_readings
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.loops.written_loops import notebook_sources
from gpuprof.analyses.memory.written_broadcasts import WrittenBroadcast, written_broadcasts
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FEWEST_READINGS = 3
# of the readings while it comes and goes: the lowest may be from before it was first made
_LOW = 0.1


@dataclass(frozen=True)
class BroadcastMemory:
    """The process held `peak_bytes` at most, in the lines of `broadcast`. `low_bytes`: what it held between two turns
    of them, or at most before the first and after the last, whichever is more."""

    broadcast: WrittenBroadcast
    peak_bytes: int
    low_bytes: int

    @property
    def comes_and_goes_bytes(self) -> int:
        """What it takes."""
        return max(self.peak_bytes - self.low_bytes, 0)


@dataclass(frozen=True)
class TransientMemory(Result):
    """The broadcast in whose lines the memory of the process was highest; None where it was in no such line, or where
    too few readings or stacks tell. `known` is False where one is written, and no stack says when it ran."""

    found: BroadcastMemory | None
    known: bool = True

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the text, the readings of the process, and the stacks."""
        written = [each for file, text in notebook_sources(trace) for each in written_broadcasts(file, text)]
        stretches, stacks = results.get(Stretches), trace.context.stacks
        if not written:
            return cls(None)
        if stacks is None or not stretches.total_ns:
            return cls(None, known=False)
        time, held = resident_readings(trace)
        if not len(held):
            return cls(None)
        order = np.argsort(stretches.start_ns, kind="stable")
        at = np.maximum(np.searchsorted(stretches.start_ns[order], time, side="right") - 1, 0)
        node = stretches.node[order][at]
        for each in written:
            inside = _in_lines(trace, each)[node]
            found = _memory(each, held, inside)
            if found is not None:
                return cls(found)
        return cls(None)


def _memory(broadcast: WrittenBroadcast, held: Array, inside: Array) -> BroadcastMemory | None:
    rows = np.flatnonzero(inside)
    if len(rows) < _FEWEST_READINGS or not inside[held.argmax()]:
        return None
    during = held[rows[0] : rows[-1] + 1]
    low = float(np.quantile(during, _LOW))
    # what else the cell does needs its memory as well
    before, after = held[: rows[0]].max(initial=0), held[rows[-1] + 1 :].max(initial=0)
    return BroadcastMemory(broadcast, int(held.max()), int(max(low, float(before), float(after))))


def _in_lines(trace: Trace, broadcast: WrittenBroadcast) -> Array:
    """Of each stack whether one of its frames is in the lines of the broadcast; of shape (nodes + 1,)."""
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    files = stacks.files if stacks else ()
    mine = {
        number
        for number, file in enumerate(files)
        if (file.kind == "cell" if not broadcast.file else file.filename == broadcast.file)
    }
    lines = set(broadcast.lines)
    columns = (nodes[name].tolist() for name in ("parent", "sampled_file", "line"))
    known: dict[int, bool] = defaultdict(bool)
    for row, (parent, file, line) in enumerate(zip(*columns, strict=True)):
        known[row] = known[parent] or (file in mine and line in lines)
    return np.array([known[row] for row in range(len(nodes))] + [False], bool)
