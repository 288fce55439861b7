"""What the operators of the close look stand for in the whole cell, by the sampled time of their lines."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.look import LookedPlace
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# a line that takes longer in the cell than its operators would, by what others take: the rest is no operator
_MOST_EXCESS = 1.5
# of the operators of its iterations: then all lines are seen about equally often
_SEEN_SHARE = 0.8

# numbers are computed there, and no operator runs
_WITHOUT_TORCH = frozenset(
    {"matplotlib", "numba", "numpy", "pandas", "PIL", "scipy", "skimage", "sklearn", "statsmodels"}
)

_Line = tuple[str, int]


@dataclass(frozen=True, eq=False)
class LookedTime(Result):
    """`cell_ns`: by operator of the look, the time of the cell that it stands for, ns; `total_ns` of the cell.
    `line_ns`: by row of the looked places, the time sampled there. `spot`: by operator, what its time was sampled as:
    its line, or its line as it was reached through those that called it, where that is known; `spot_ns`: by spot, that
    time. `weight`: by operator, what a ns of it counts beside those of other looks; all 1 where there is one look.
    `place`: by operator, its line. `known`: False where nothing was sampled, and the times are empty.

    Time within a library that does not use torch is no work of operators. Of one look all operators ran in the same few
    iterations, so that a spot's time in the cell over that of its operators in the look is the same number of
    iterations for all spots, r. It is the median of these ratios over the spots that one look alone has seen, weighed
    by the time in the look. A spot's operators stand for the time sampled there, but those of a line for no more than
    1.5 r times theirs: the rest of such a line is no work of operators. A spot that several looks have seen, as in a
    model, is divided among them by what r makes expect. A look that saw a part of an iteration shows lines unequally
    often: there each line has a ratio of its own.
    """

    known: bool
    total_ns: int
    cell_ns: Array
    line_ns: Array
    spot: Array
    spot_ns: Array
    weight: Array
    place: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the samples of the whole cell."""
        operators, stretches, looks = trace.looked_operators, results.get(Stretches), _looks(trace)
        even = np.ones(len(operators))
        if not len(operators) or not stretches.total_ns:
            none = np.empty(0)
            return cls(False, 0, none, none, operators["place"], none, even, operators["place"])
        line_ns, path_ns = _sampled(trace, stretches)
        spot, spot_ns = _spots(trace, line_ns, path_ns)
        lasted, place, look = (operators[name] for name in ("duration_ns", "place", "look"))
        known = (place >= 0) & (look < looks)
        # by spot and look
        spent = np.zeros((len(spot_ns), looks))
        np.add.at(spent, (spot[known], look[known]), lasted[known])
        repeats = np.array([_repeats(spent, spot_ns, each) for each in range(looks)])
        expected = spent @ repeats
        ratio = np.divide(spot_ns, expected, out=np.ones(len(spot_ns)), where=expected > 0)
        factor = repeats[look] * np.where(known, np.append(ratio, 1.0)[spot], 1.0)
        if _whole(trace):
            factor *= np.append(_kept(place[known], spot[known], expected, spot_ns, len(line_ns)), 1.0)[place]
        first = repeats[repeats > 0].min(initial=np.inf)
        weight = repeats[look] / first if looks > 1 and np.isfinite(first) else even
        return cls(True, stretches.total_ns, lasted * factor, line_ns, spot, spot_ns, weight, place)

    def of_rows(self, rows: Array, among: Array) -> tuple[float, float]:
        """The time of the cell that these operators stand for, ns, where those in the mask `among` stand for all of
        their spots, and the sampled time of their spots."""
        spot = self.spot
        size = len(self.spot_ns) + 1  # the first: no line is known
        held, counted = (np.bincount(spot[mask] + 1, self.cell_ns[mask], size) for mask in (slice(None), among))
        more = np.divide(held, counted, out=np.ones(size), where=counted > 0)
        spots = np.unique(spot[rows][spot[rows] >= 0])
        return float((self.cell_ns[rows] * more[spot[rows] + 1]).sum()), float(self.spot_ns[spots].sum())


def _looks(trace: Trace) -> int:
    return len(trace.context.look.each) if trace.context.look is not None else 1


def _whole(trace: Trace) -> bool:
    return trace.context.look is not None and (trace.context.look.operators_share or 0.0) >= _SEEN_SHARE


def _spots(trace: Trace, line_ns: Array, path_ns: Array) -> tuple[Array, Array]:
    """The spot of each operator, and the time sampled of each spot. First come the lines, then the paths; a line is
    divided by them where all of its operators have one and samples show some of these."""
    place, path = trace.looked_operators["place"], trace.looked_operators["path"].astype(np.int64)
    path = np.where(path < len(path_ns), path, -1)
    by_path = (place >= 0) & (path >= 0)
    sampled_ns = np.zeros(len(line_ns))
    pairs = np.unique(np.stack((place[by_path], path[by_path])), axis=1)
    np.add.at(sampled_ns, pairs[0], path_ns[pairs[1]])
    divided = sampled_ns > 0
    divided[place[(place >= 0) & (path < 0)]] = False
    spot = np.where(by_path & np.append(divided, False)[place], len(line_ns) + path, place)
    return spot, np.concatenate((line_ns, path_ns))


def _kept(place: Array, spot: Array, expected: Array, spot_ns: Array, lines: int) -> Array:
    """By line, the part of its sampled time that its operators may stand for, 0..1."""
    pairs = np.unique(np.stack((place, spot)), axis=1)
    wanted, sampled = (np.bincount(pairs[0], each[pairs[1]], lines) for each in (expected, spot_ns))
    kept: Array = np.divide(_MOST_EXCESS * wanted, sampled, out=np.ones(lines), where=sampled > 0)
    return kept.clip(max=1.0)


def _sampled(trace: Trace, stretches: Stretches) -> tuple[Array, Array]:
    """Time of the cell in which each looked place was the innermost line of the user's code, and in which each looked
    path was all of it that was on the stack."""
    look, stacks = trace.context.look, trace.context.stacks
    if look is None or stacks is None:
        return np.zeros(0), np.zeros(0)
    places, own = own_frames(trace, stacks)
    per_node = np.zeros(len(own))
    at = np.append(np.where(_elsewhere(trace, own), -1, own), -1)[stretches.node]
    np.add.at(per_node, at[at >= 0], stretches.spent_ns[at >= 0])
    names = ["" if each.kind == "cell" else each.filename for each in stacks.files]
    lines = [(names[file], line) for file, line in places[:, :2].tolist()]
    spent, by_path = defaultdict[_Line, float](float), defaultdict[tuple[_Line, ...], float](float)
    parents = trace.stack_nodes["parent"]
    for node in np.flatnonzero(per_node).tolist():
        path, above = [lines[node]], int(parents[node])
        while above >= 0 and (above := int(own[above])) >= 0:
            path.append(lines[above])
            above = int(parents[above])
        spent[lines[node]] += float(per_node[node])
        by_path[tuple(path)] += float(per_node[node])
    cell = trace.context.cell.filename if trace.context.cell else None
    looked = [_line(each, cell) for each in look.places]
    chains = [tuple(looked[place] for place in path if 0 <= place < len(looked)) for path in look.paths]
    return np.array([spent[each] for each in looked]), np.array([by_path[each] for each in chains])


def _elsewhere(trace: Trace, own: Array) -> Array:
    """Boolean mask of the nodes of stacks: within a library that computes without torch, called by the user's code."""
    stacks = trace.context.stacks
    assert stacks is not None
    packages = [each.filename.replace("\\", "/").partition("/")[0] for each in stacks.files]
    without = np.array([package in _WITHOUT_TORCH for package in packages], bool)[trace.stack_nodes["sampled_file"]]
    found = np.zeros(len(own), bool)
    for row, parent in enumerate(trace.stack_nodes["parent"].tolist()):
        found[row] = own[row] != row and (without[row] or (parent >= 0 and found[parent]))
    return found


def _line(place: LookedPlace, cell: str | None) -> _Line:
    return "" if place.file in ("", cell) else place.file, place.line


def _repeats(spent: Array, spot_ns: Array, look: int) -> float:
    """How often the cell does what this look saw, by the median spot; 0 where it is at none that was sampled."""
    own = spent[:, look]
    alone = (own > 0) & (spent.sum(axis=1) == own)
    rows = np.flatnonzero(alone if spot_ns[alone].any() else own > 0)
    if not len(rows):
        return 0.0
    ratio = spot_ns[rows] / own[rows]
    order = np.argsort(ratio, kind="stable")
    reached = np.cumsum(own[rows][order])
    return float(ratio[order][np.searchsorted(reached, reached[-1] / 2)])
