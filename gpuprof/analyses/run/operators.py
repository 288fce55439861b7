"""Framework calls on the host: what they cost by name and by phase."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


@dataclass(frozen=True)
class OperatorUse:
    """All calls of one name. `total_ns` counts an operator within another of its own name once; `self_ns` leaves out
    the operators within."""

    name: str
    count: int
    total_ns: int
    self_ns: int


@dataclass(frozen=True, eq=False)
class Operators(Result):
    """Operators on the host. `uses` is sorted by self time, largest first; all threads count there.

    `forward_ns`, `backward_ns` and `optimizer_ns` partition the time that the main thread spends inside operators
    outside the DataLoader: optimizer is what lies in `Optimizer.` ranges, backward what the autograd engine runs,
    forward the rest. None where no operator was recorded.
    """

    uses: tuple[OperatorUse, ...]
    forward_ns: int | None
    backward_ns: int | None
    optimizer_ns: int | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators and the user ranges."""
        operators, phases = trace.operators, results.get(Phases)
        if not operators:
            return cls((), None, None, None)
        on_main = operators["thread"] == trace.main_thread
        top = intervals.of(operators.take(on_main & (operators["parent"] < 0)))
        parts = intervals.partition(
            intervals.union(top),
            [("input", phases.input), ("optimizer", phases.optimizer), ("backward", phases.backward)],
        )
        return cls(
            uses=_uses(trace),
            forward_ns=parts[""].total_ns,
            backward_ns=parts["backward"].total_ns,
            optimizer_ns=parts["optimizer"].total_ns,
        )


def when_called(results: Results, *prefixes: str) -> Intervals:
    """When operators ran whose name starts with one of `prefixes`, on any thread, one interval each."""
    operators = results.trace.operators
    return intervals.of(operators.take(results.trace.name_mask(operators, *prefixes)))


def _uses(trace: Trace) -> tuple[OperatorUse, ...]:
    operators = trace.operators
    names, durations, parents = operators["name"], operators["duration_ns"], operators["parent"]
    inner = parents >= 0
    within = np.bincount(parents[inner], weights=durations[inner], minlength=len(operators)).astype(np.int64)
    self_ns = np.maximum(durations - within, 0)
    outer = ~_within_own_name(operators)
    size = len(trace.names)
    counts = np.bincount(names, minlength=size)
    totals = np.bincount(names[outer], weights=durations[outer], minlength=size).astype(np.int64)
    selves = np.bincount(names, weights=self_ns, minlength=size).astype(np.int64)
    used = np.flatnonzero(counts)
    ordered = used[np.argsort(-selves[used], kind="stable")]
    return tuple(
        OperatorUse(trace.names[index], int(counts[index]), int(totals[index]), int(selves[index])) for index in ordered
    )


def _within_own_name(operators: Table) -> Array:
    """Boolean mask of shape `(len(operators),)`: some operator around it has the same name."""
    names, parents = operators["name"], operators["parent"]
    found = np.zeros(len(operators), bool)
    rows = np.flatnonzero(parents >= 0)
    above = parents[rows]
    while len(rows):
        same = names[above] == names[rows]
        found[rows[same]] = True
        above = parents[above]
        onward = ~same & (above >= 0)
        rows, above = rows[onward], above[onward]
    return found
