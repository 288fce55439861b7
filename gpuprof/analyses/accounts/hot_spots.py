"""The few places where most of the time goes, each with its phase, its line and what ran there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.called import called, called_by_text, functions_below
from gpuprof.analyses.accounts.hot_spot import LEAST_SHARE, MOST, MOST_LINES, CalledFrom, HotSpot
from gpuprof.analyses.accounts.line_operators import LineOperators
from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.recorded_spots import recorded_spots
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.host_marks import picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.context import SampledStacks
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_OF_IT = 0.5
# of the whole: a larger line is a spot by itself, a smaller one is not worth naming
_BY_ITSELF = 0.08
_LEAST_LINE = 0.01
# of the small lines of a function: where one has more, the others are not worth naming with it
_ONE_OF_MANY = 2 / 3
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
    distinct, line_of = np.unique(keys, axis=0, return_inverse=True)
    line_of = line_of.reshape(-1)
    by_line = np.bincount(line_of, weights=lasted[known], minlength=len(distinct))
    joint = _joint(distinct, by_line / total_ns, _main_phase(line_of, phase[known], lasted[known]), _tops(stacks))
    group = joint[line_of]
    spent = np.bincount(group, weights=lasted[known], minlength=len(distinct))
    exact = np.bincount(group, weights=(lasted * stretches.exact)[known], minlength=len(distinct))
    errors = stretches.error(spent / total_ns, exact / total_ns, trace)
    found = []
    for row in np.argsort(-spent, kind="stable")[:MOST]:
        if spent[row] < LEAST_SHARE * total_ns:
            break
        lines = np.flatnonzero(joint == row)
        heaviest = distinct[lines[by_line[lines].argmax()]]
        rows = np.flatnonzero(known)[group == row]
        spot = _spot(trace, results, stacks, own, tuple(int(each) for each in heaviest[:3]), rows, len(lines) == 1)
        told = sorted(lines, key=lambda each: -by_line[each])[:MOST_LINES] if len(lines) > 1 else []
        found.append(
            replace(
                spot,
                error=float(errors[row]),
                lines=tuple(sorted((int(distinct[each, 1]), float(by_line[each] / total_ns)) for each in told)),
                more_lines=len(lines) - len(told) if told else 0,
            )
        )
    return tuple(found)


def _main_phase(line_of: Array, phase: Array, lasted: Array) -> Array:
    """The phase of most of each line's time, as its place in PHASES."""
    by_phase = np.zeros((int(line_of.max(initial=-1)) + 1, len(PHASES)))
    np.add.at(by_phase, (line_of, phase), lasted)
    most: Array = by_phase.argmax(axis=1)
    return most


def _tops(stacks: SampledStacks) -> Array:
    """The functions that are the code of a cell or module itself, as rows of the names."""
    return np.flatnonzero(np.array([each == _TOP for each in stacks.functions], bool))


def _joint(distinct: Array, share: Array, phase: Array, tops: Array) -> Array:
    """For each line the row of the line that it is shown with: lines of one function and phase that are small each by
    itself are one spot. Which of many small lines comes first is chance; that their function takes the time is not.

    `distinct`: file, line, function and the phases kept apart; `share` of the whole, 0..1; `phase`: of most of it.
    """
    small = (share < _BY_ITSELF) & (share >= _LEAST_LINE) & (distinct[:, 1] > 0) & ~np.isin(distinct[:, 2], tops)
    joint = np.arange(len(distinct))
    functions = np.column_stack((distinct[:, (0, 2, 3)], phase))[small]
    _, function = np.unique(functions, axis=0, return_inverse=True)
    rows = np.flatnonzero(small)
    for each in np.unique(function):
        of_function = rows[function.reshape(-1) == each]
        if share[of_function].max() <= _ONE_OF_MANY * share[of_function].sum():
            joint[of_function] = of_function[0]
    return joint


def _spot(
    trace: Trace, results: Results, stacks: SampledStacks, own: Array, place: tuple[int, ...], rows: Array, single: bool
) -> HotSpot:
    """What is known of these rows of the stretches. `place`: file, line and function;
    `single`: they have no other line."""
    stretches = results.get(Stretches)
    node, lasted = stretches.node[rows], stretches.spent_ns[rows]
    of_phase = np.bincount(results.get(SamplePhases).phase[rows], weights=lasted)
    file, line, function = place
    described = stacks.files[file]
    what, what_share = called(trace, stacks, node, lasted, own)
    operator = results.get(LineOperators).names.get((described.filename, line), "") if single else ""
    in_text, in_text_share = ("", 0.0)
    if single and not what and not operator:
        in_text, in_text_share = _in_text(trace, stacks, own, (file, line), (node, lasted))
    top = described.kind == "cell" and stacks.functions[function] == _TOP
    return HotSpot(
        ns=int(lasted.sum()),
        share=float(lasted.sum() / stretches.total_ns),
        phase=PHASES[int(of_phase.argmax())],
        phase_share=float(of_phase.max() / of_phase.sum()),
        what=what or operator or in_text,
        what_share=what_share if what else in_text_share if in_text else None,
        source_file=described.filename,
        is_cell=described.kind == "cell",
        execution_count=trace.context.described(described).execution_count,
        line=line if line > 0 else None,
        cell_line=_cell_line(results, node, lasted),
        function=stacks.functions[function] or None,
        called_from=None if top else _called_from(trace, results, stacks, own, (file, line), (node, lasted)),
        by_text=bool(in_text),
        way=_way(trace, stacks, node, lasted),
    )


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
