"""The resident memory of the process over the whole cell: when it is highest, and in which lines it grows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.recorder_memory import recorder_bytes
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

MOST = 3
_FEWEST_READINGS = 5
# less comes and goes with every buffer
_LEAST_BYTES = 64 * 1024**2
_LEAST_SHARE = 0.2
# what a recording took is given back when it is saved
_SETTLES_NS = 500_000_000
_MUCH_LESS = 0.8
_WARM_NS = 200_000_000  # the first readings see gpuprof itself begin


@dataclass(frozen=True)
class MemoryAt:
    """Bytes by which memory grew while the thread was in that line, or that it held when it was highest. `line` is of
    `source_file`, as it was sampled; both None where no line is known."""

    bytes: int
    phase: Phase
    source_file: str | None
    is_cell: bool
    execution_count: int | None
    line: int | None
    cell_line: int | None = None


@dataclass(frozen=True)
class CellMemory(Result):
    """Resident bytes at the start and the end of the cell and at most, without those of the recorder; None with too few
    readings. `lowest_bytes`: the least of them.

    `peak`: where it was highest; `grown`: the lines in which it rose to that, each by at least a fifth of the rise, the
    largest first. What fell on the way is taken from what had risen last, so that they add up to the rise at most. Both
    are empty where it rose by less than 64 MiB. A line counts from outside of the model that it calls.
    `rest_bytes`: the most that it held in the rest of the cell, where it was highest during the recording and held less
    afterwards: recording itself takes memory, and not all of that is known. Else None. `recorded`: it was highest
    during the recording. `gaps_bytes`: of its growth, at most so much lies free between the records of the recording.
    """

    start_bytes: int | None = None
    peak_bytes: int | None = None
    end_bytes: int | None = None
    peak: MemoryAt | None = None
    grown: tuple[MemoryAt, ...] = ()
    lowest_bytes: int | None = None
    rest_bytes: int | None = None
    recorded: bool = False
    gaps_bytes: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the readings of the process, ten per second, and what its thread was in between two of them."""
        time, held = resident_readings(trace)
        if not len(held):
            return cls()
        start, peak, end = int(held[0]), int(held.max()), int(held[-1])
        lowest, rose = int(held.min()), peak - start
        if rose < _LEAST_BYTES or not results.get(Stretches).total_ns:
            return cls(start, peak, end, lowest_bytes=lowest)
        places = _Places(trace, results)
        at = places.at(time)
        until = int(held.argmax())
        grown = places.grown(at[1 : until + 1], np.diff(held[: until + 1]))
        return cls(
            start,
            peak,
            end,
            places.named(int(at[held.argmax()]), peak),
            tuple(each for each in grown[:MOST] if each.bytes >= max(_LEAST_SHARE * rose, _LEAST_BYTES)),
            lowest,
            _in_the_rest(trace, time, held),
            _during(trace, int(time[held.argmax()])),
            min(_gaps_bytes(trace), rose),
        )


def _during(trace: Trace, at_ns: int) -> bool:
    window = trace.context.window
    return window is not None and window.start_ns <= at_ns <= window.end_ns + _SETTLES_NS


def _gaps_bytes(trace: Trace) -> int:
    found = trace.context.sampling.get("gaps_bytes")
    return found if isinstance(found, int) else 0


def _in_the_rest(trace: Trace, time: Array, held: Array) -> int | None:
    window = trace.context.window
    assert window is not None
    outside = (time < window.start_ns) | (time > window.end_ns + _SETTLES_NS)
    if outside[held.argmax()] or outside.sum() < _FEWEST_READINGS or not len(trace.iterations):
        return None
    most = int(held[outside].max())
    return most if most < _MUCH_LESS * int(held.max()) else None


def resident_readings(trace: Trace) -> tuple[Array, Array]:
    """Unix times and resident bytes of the process in the cell, both of shape (n,), without the recorder's; empty where
    there are too few."""
    readings, window, none = trace.host_readings, trace.context.window, np.zeros(0, np.int64)
    if window is None or len(readings) < _FEWEST_READINGS:
        return none, none
    time, held = readings["time_ns"], readings["resident_bytes"]
    inside = (time >= window.cell_start_ns + _WARM_NS) & (time <= window.cell_end_ns)
    time, held = time[inside], held[inside]
    return (time, held - recorder_bytes(trace, time, held)) if len(held) >= _FEWEST_READINGS else (none, none)


class _Places:
    """The stretches in the order of time, each with the row of the user's line that it counts for."""

    def __init__(self, trace: Trace, results: Results):
        self._trace = trace
        stretches, facts = results.get(Stretches), results.get(NodeFacts)
        order = np.argsort(stretches.start_ns, kind="stable")
        self._starts = stretches.start_ns[order]
        self._caller = facts.caller[stretches.node][order]
        self._phase = results.get(SamplePhases).phase[order]

    def at(self, times: Array) -> Array:
        """The stretch at each time: the last that had begun."""
        found: Array = np.maximum(np.searchsorted(self._starts, times, side="right") - 1, 0)
        return found

    def named(self, row: int, held: int) -> MemoryAt:
        """What a stretch is, in the user's terms."""
        node, phase, stacks = int(self._caller[row]), PHASES[self._phase[row]], self._trace.context.stacks
        if node < 0 or stacks is None:
            return MemoryAt(held, phase, None, False, None, None)
        file = self._trace.context.described(stacks.files[self._trace.stack_nodes["sampled_file"][node]])
        line, of_cell = int(self._trace.stack_nodes["line"][node]), file.kind == "cell"
        return MemoryAt(held, phase, file.filename, of_cell, file.execution_count, line if line > 0 else None)

    def grown(self, at: Array, change: Array) -> list[MemoryAt]:
        """What rose and has not fallen again, by line, the largest first."""
        risen = list[tuple[int, int]]()
        for row, by in zip(at.tolist(), change.tolist(), strict=True):
            if by >= 0:
                risen.append((row, by))
            while by < 0 and risen:
                last, rose = risen.pop()
                by += rose
                if by > 0:
                    risen.append((last, by))
        sums, firsts = Counter[tuple[int, int]](), dict[tuple[int, int], int]()
        for row, by in risen:
            line = self._line(row)
            sums[line] += by
            firsts.setdefault(line, row)
        return [self.named(firsts[line], by) for line, by in sums.most_common() if by]

    def _line(self, row: int) -> tuple[int, int]:
        node, nodes = int(self._caller[row]), self._trace.stack_nodes
        return (-1, -1) if node < 0 else (int(nodes["sampled_file"][node]), int(nodes["line"][node]))
