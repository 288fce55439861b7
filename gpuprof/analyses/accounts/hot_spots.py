"""The few places where most of the time goes, each with its phase, its line and what ran there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.called import called, called_by_text, functions_below
from gpuprof.analyses.accounts.hot_spot import LEAST_SHARE, MOST, CalledFrom, HotSpot
from gpuprof.analyses.accounts.line_operators import LineOperators
from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.recorded_spots import recorded_spots
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_OF_IT = 0.5
_OWN = ("cell", "notebook", "module")
# the code of a cell itself: what calls it is the notebook
_TOP = "<module>"
# training and these run the same lines of a model, and what makes one of them cheaper does not make the other so
_BESIDE_TRAINING = (Phase.EVALUATION, Phase.INFERENCE, Phase.GENERATION)


@dataclass(frozen=True)
class HotSpots(Result):
    """`spots`, the largest first: five at most, each of 3 % at least. `total_ns` is the whole that shares are of;
    `sampled`: that is the cell, else the recorded span."""

    spots: tuple[HotSpot, ...]
    total_ns: int
    sampled: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sampled stacks; else the lines of the recorded span; else its operators."""
        stacks, stretches = trace.context.stacks, results.get(Stretches)
        if stacks is not None and stretches.total_ns:
            return cls(_sampled(trace, results, stacks, stretches), stretches.total_ns, True)
        if not trace.span_ns:
            return cls((), 0, False)
        return cls(recorded_spots(trace, results), trace.span_ns, False)


def _sampled(trace: Trace, results: Results, stacks: SampledStacks, stretches: Stretches) -> tuple[HotSpot, ...]:
    phase, total_ns = results.get(SamplePhases).phase, stretches.total_ns
    places, own = own_frames(trace, stacks)
    node, lasted = stretches.node, stretches.spent_ns
    at = np.append(own, -1)[node]  # -1, the last: no code of the user
    known = at >= 0
    apart = np.where(np.isin(phase, [PHASES.index(each) for each in _BESIDE_TRAINING]), phase, -1)
    keys = np.column_stack((places[at[known]], apart[known]))
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    spent = np.bincount(group, weights=lasted[known], minlength=len(distinct))
    exact = np.bincount(group, weights=(lasted * stretches.exact)[known], minlength=len(distinct))
    errors = stretches.error(spent / total_ns, exact / total_ns, trace)
    named = results.get(LineOperators).names
    found = []
    for row in np.argsort(-spent, kind="stable")[:MOST]:
        share = float(spent[row] / total_ns)
        if share < LEAST_SHARE:
            break
        rows = np.flatnonzero(known)[group == row]
        of_phase = np.bincount(phase[rows], weights=lasted[rows])
        file, line, function, _ = (int(each) for each in distinct[row])
        described = stacks.files[file]
        what, what_share = called(trace, stacks, node[rows], lasted[rows], own)
        operator = named.get((described.filename, line), "")
        in_text, in_text_share = ("", 0.0)
        if not what and not operator:
            in_text, in_text_share = _in_text(trace, stacks, own, (file, line), (node[rows], lasted[rows]))
        found.append(
            HotSpot(
                ns=int(spent[row]),
                share=share,
                phase=PHASES[int(of_phase.argmax())],
                phase_share=float(of_phase.max() / of_phase.sum()),
                what=what or operator or in_text,
                what_share=what_share if what else in_text_share if in_text else None,
                source_file=described.filename,
                is_cell=described.kind == "cell",
                execution_count=trace.context.described(described).execution_count,
                line=line if line > 0 else None,
                cell_line=_cell_line(results, node[rows], lasted[rows]),
                function=stacks.functions[function] or None,
                error=float(errors[row]),
                called_from=None
                if described.kind == "cell" and stacks.functions[function] == _TOP
                else _called_from(trace, results, stacks, own, (file, line), (node[rows], lasted[rows])),
                by_text=bool(in_text),
                way=_way(trace, stacks, node[rows], lasted[rows]),
            )
        )
    return tuple(found)


def _way(trace: Trace, stacks: SampledStacks, node: Array, spent: Array) -> tuple[int, ...]:
    """The lines of the profiled cell that most of these stacks have."""
    parent, file, line = (trace.stack_nodes[name] for name in ("parent", "sampled_file", "line"))
    in_cell = [each.kind == "cell" for each in stacks.files]
    distinct, group = np.unique(node, return_inverse=True)
    by_node = np.bincount(group.reshape(-1), weights=spent, minlength=len(distinct))
    passed = defaultdict[int, float](float)
    for at, ns in zip(distinct.tolist(), by_node.tolist(), strict=True):
        lines = set[int]()
        while at >= 0:
            if in_cell[file[at]] and line[at] > 0:
                lines.add(int(line[at]))
            at = int(parent[at])
        for each in lines:
            passed[each] += ns
    return tuple(sorted(each for each, ns in passed.items() if ns >= spent.sum() / 2))


def _in_text(
    trace: Trace, stacks: SampledStacks, own: Array, place: tuple[int, int], seen: tuple[Array, Array]
) -> tuple[str, float]:
    """The one call of a line's text, with the share of the line's time that was seen in no function below it; empty
    where that is less than half. `place` and `seen` as in `_called_from`."""
    node, spent = seen
    share = float(spent[own[node] == node].sum() / spent.sum()) if spent.sum() else 0.0
    source = trace.context.described(stacks.files[place[0]]).source
    if share < _MOST_OF_IT or not source:
        return "", 0.0
    return called_by_text(source, place[1], functions_below(trace, stacks, node, own)), share


def own_frames(trace: Trace, stacks: SampledStacks) -> tuple[Array, Array]:
    """`(file, line, function)` of each node, and the node of the innermost frame of the user's code at or above it."""
    nodes = trace.stack_nodes
    places = np.stack((nodes["sampled_file"], nodes["line"], nodes["function"]), axis=1).astype(np.int64)
    is_own = np.array([each.kind in _OWN for each in stacks.files], bool)[nodes["sampled_file"]]
    own = np.empty(len(nodes), np.int64)
    for row, parent in enumerate(nodes["parent"]):
        own[row] = row if is_own[row] else own[parent] if parent >= 0 else -1
    return places, own


def _heaviest(values: Array, weights: Array) -> int:
    return int(np.argmax(np.bincount(values, weights=weights)))


def _cell_line(results: Results, node: Array, spent: Array) -> int | None:
    lines = results.get(StackLines).cell_line[node]
    return int(_heaviest(lines[lines > 0], spent[lines > 0])) if (lines > 0).any() else None


def _called_from(
    trace: Trace, results: Results, stacks: SampledStacks, own: Array, place: tuple[int, int], seen: tuple[Array, Array]
) -> CalledFrom | None:
    """The line that called the model, else the one that called the spot's function: of several, that with most of the
    time, if it has half of it. None where there is none.

    `place`: file and line of the spot; `seen`: its nodes and the time in each.
    """
    callers = [results.get(NodeFacts).caller[seen[0]]]
    if stacks.files[place[0]].kind != "module":  # of which the line of the cell says more
        callers.append(_callers(trace, own, seen[0]))
    for rows in callers:
        known = rows >= 0
        if not known.any():
            continue
        row = _heaviest(rows[known], seen[1][known])
        file, line = int(trace.stack_nodes["sampled_file"][row]), int(trace.stack_nodes["line"][row])
        if line > 0 and (file, line) != place and seen[1][rows == row].sum() >= _MOST_OF_IT * seen[1].sum():
            described = trace.context.described(stacks.files[file])
            return CalledFrom(described.filename, described.kind == "cell", described.execution_count, line)
    return None


def _callers(trace: Trace, own: Array, node: Array) -> Array:
    """The row of the user's next frame outside that of each node; -1 where there is none."""
    parent = trace.stack_nodes["parent"]
    inner = own[node]
    return picked(own, picked(parent, inner))
