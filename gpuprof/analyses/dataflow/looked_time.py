"""What the operators of the close look stand for in the whole cell, by the sampled time of their lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.hot_spots import own_frames
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a line that takes longer in the cell than its operators would, by what others take: the rest is no operator
_MOST_EXCESS = 1.5
# of the operators of its iterations: then all lines are seen about equally often
_SEEN_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class LookedTime(Result):
    """`cell_ns`: by operator of the look, the time of the cell that it stands for, ns; `total_ns` of the cell.
    `line_ns`: by row of the looked places, the time sampled there. `weight`: by operator, what a ns of it counts beside
    those of other looks; all 1 where there is one look. `place`: by operator, its line. `known`: False where nothing
    was sampled, and the others are empty but for `weight` and `place`.

    Of one look all operators ran in the same few iterations, so that a line's time in the cell over that of its
    operators in the look is the same number of iterations for all lines, r. It is the median of these ratios over
    the lines that one look alone has seen, weighed by the time in the look. A line's operators stand for the time
    sampled there, but for no more than 1.5 r times theirs: the rest of such a line is no work of operators. A line
    that several looks have seen, as in a model, is divided among them by what r makes expect. A look
    that saw a part of an iteration shows lines unequally often: there each line has a ratio of its own.
    """

    known: bool
    total_ns: int
    cell_ns: Array
    line_ns: Array
    weight: Array
    place: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the samples of the whole cell."""
        operators, stretches, looks = trace.looked_operators, results.get(Stretches), _looks(trace)
        even = np.ones(len(operators))
        if not len(operators) or not stretches.total_ns:
            return cls(False, 0, np.empty(0), np.empty(0), even, operators["place"])
        line_ns = _line_ns(trace, stretches)
        lasted, place, look = (operators[name] for name in ("duration_ns", "place", "look"))
        known = (place >= 0) & (look < looks)
        # by place and look
        spent = np.zeros((len(line_ns), looks))
        np.add.at(spent, (place[known], look[known]), lasted[known])
        repeats = np.array([_repeats(spent, line_ns, each) for each in range(looks)])
        expected = spent @ repeats
        ratio = np.divide(line_ns, expected, out=np.ones(len(line_ns)), where=expected > 0)
        most = _MOST_EXCESS if _whole(trace) else np.inf
        factor = repeats[look] * np.where(known, np.minimum(np.append(ratio, 1.0)[place], most), 1.0)
        first = repeats[repeats > 0].min(initial=np.inf)
        weight = repeats[look] / first if looks > 1 and np.isfinite(first) else even
        return cls(True, stretches.total_ns, lasted * factor, line_ns, weight, place)

    def of_rows(self, rows: Array, among: Array) -> tuple[float, float]:
        """The time of the cell that these operators stand for, ns, where those in the mask `among` stand for all of
        their lines, and the sampled time of their lines."""
        place = self.place
        size = len(self.line_ns) + 1  # the first: no line is known
        held, counted = (np.bincount(place[mask] + 1, self.cell_ns[mask], size) for mask in (slice(None), among))
        more = np.divide(held, counted, out=np.ones(size), where=counted > 0)
        lines = np.unique(place[rows][place[rows] >= 0])
        return float((self.cell_ns[rows] * more[place[rows] + 1]).sum()), float(self.line_ns[lines].sum())


def _looks(trace: Trace) -> int:
    return len(trace.context.look.each) if trace.context.look is not None else 1


def _whole(trace: Trace) -> bool:
    return trace.context.look is not None and (trace.context.look.operators_share or 0.0) >= _SEEN_SHARE


def _line_ns(trace: Trace, stretches: Stretches) -> Array:
    """Time of the cell in which each looked place was the innermost line of the user's code."""
    look, stacks = trace.context.look, trace.context.stacks
    if look is None or stacks is None:
        return np.zeros(0)
    places, own = own_frames(trace, stacks)
    spent: dict[tuple[str, int], float] = {}
    per_node = np.zeros(len(own))
    at = np.append(own, -1)[stretches.node]
    np.add.at(per_node, at[at >= 0], stretches.duration_ns[at >= 0])
    for node in np.flatnonzero(per_node).tolist():
        described = stacks.files[int(places[node, 0])]
        key = "" if described.kind == "cell" else described.filename, int(places[node, 1])
        spent[key] = spent.get(key, 0.0) + float(per_node[node])
    cell = trace.context.cell.filename if trace.context.cell else None
    names = ["" if each.file in ("", cell) else each.file for each in look.places]
    return np.array([spent.get((name, each.line), 0.0) for name, each in zip(names, look.places, strict=True)])


def _repeats(spent: Array, line_ns: Array, look: int) -> float:
    """How often the cell does what this look saw, by the median line; 0 where it is at no line that was sampled."""
    own = spent[:, look]
    alone = (own > 0) & (spent.sum(axis=1) == own)
    rows = np.flatnonzero(alone if line_ns[alone].any() else own > 0)
    if not len(rows):
        return 0.0
    ratio = line_ns[rows] / own[rows]
    order = np.argsort(ratio, kind="stable")
    reached = np.cumsum(own[rows][order])
    return float(ratio[order][np.searchsorted(reached, reached[-1] / 2)])
