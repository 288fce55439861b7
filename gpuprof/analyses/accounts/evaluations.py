"""How often a cell that trains evaluates, how long that takes, and from which lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.units import NS_PER_S

_OF_TRAINING = (Phase.FORWARD, Phase.LOSS, Phase.BACKWARD, Phase.OPTIMIZER, Phase.TRAINING, Phase.DATA)
# samples an evaluation: with fewer some of them pass unseen
_SEEN = 3.0
# of the longest evaluation: less between two steps is a sample that was taken for one
_STRAY = 0.05
_MOST_PLACES = 3


@dataclass(frozen=True)
class EvaluationPlace:
    """A line of the user's code that evaluates, for `ns`: the call of the model, or what it does beside that.

    `cell_line`: the line of the profiled cell that led there; None where none did. `execution_count`: of the other cell
    that it is in, None for the profiled cell (`in_cell`), a module of the user's, or where it is not known.
    """

    line: int
    in_cell: bool
    execution_count: int | None
    cell_line: int | None
    ns: int


@dataclass(frozen=True, eq=False)
class Evaluations(Result):
    """Of the whole cell, by its sampled stacks; all of it None or empty where none were, or no optimizer stepped.

    `ns` in evaluations, a `share` of the cell with its standard `error` (0..1), beside `training_share`. `each_ns`:
    what was seen between two optimizer steps, one after the other; `last_ns` after the last step, 0 for none.
    `complete`: so much of each was seen that none passed unseen. `steps`: optimizer steps of the cell; `steps_between`:
    the median from one evaluation to the next, None with fewer than two. `places`: the three where most of it goes.
    """

    ns: int | None
    share: float
    error: float
    training_share: float
    each_ns: Array
    last_ns: int
    complete: bool
    steps: int
    steps_between: float | None
    places: tuple[EvaluationPlace, ...]

    @property
    def count(self) -> int:
        """Evaluations seen, those after the last step as one."""
        return len(self.each_ns) + (self.last_ns > 0)

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """An evaluation is what lies between the ends of two optimizer steps."""
        stretches, stacks = results.get(Stretches), trace.context.stacks
        total_ns, none = stretches.total_ns, np.zeros(0, np.int64)
        if stacks is None or not total_ns or not results.get(Passes).trains:
            return cls(None, 0.0, 0.0, 0.0, none, 0, False, 0, None, ())
        phase, spent = results.get(SamplePhases).phase, stretches.spent_ns
        middle = stretches.start_ns + stretches.duration_ns // 2
        found = phase == PHASES.index(Phase.EVALUATION)
        training = np.isin(phase, [PHASES.index(each) for each in _OF_TRAINING])
        ns = int(spent[found].sum())
        exact = float(spent[found & stretches.exact].sum() / total_ns)
        (error,) = stretches.error(np.array([ns / total_ns]), np.array([exact]), trace)
        ends_ns = _step_ends(trace)
        after = np.searchsorted(ends_ns, middle[found])
        before_end = after < len(ends_ns)
        gaps, group = np.unique(after[before_end], return_inverse=True)
        each = np.bincount(group.reshape(-1), weights=spent[found][before_end], minlength=len(gaps)).astype(np.int64)
        last_ns = int(spent[found][~before_end].sum())
        seen = each >= _STRAY * max(int(each.max(initial=0)), last_ns)
        gaps, each = gaps[seen], each[seen]
        count = len(gaps) + (last_ns > 0)
        between = np.diff([*gaps, len(ends_ns)] if last_ns else gaps)
        return cls(
            ns=ns,
            share=ns / total_ns,
            error=float(error),
            training_share=float(spent[training].sum() / total_ns),
            each_ns=each,
            last_ns=last_ns,
            complete=bool(count) and ns / count * stacks.rate_hz >= _SEEN * NS_PER_S,
            steps=len(ends_ns),
            steps_between=float(np.median(between)) if len(between) else None,
            places=_places(trace, results, stretches.node[found], spent[found]),
        )


def _step_ends(trace: Trace) -> Array:
    """Unix times. The first iteration begins where a step or the first batch ended."""
    rows = trace.iterations
    stepped = rows["optimizer_ns"] >= 0
    ends: Array = np.unique((rows["start_ns"] + rows["duration_ns"])[stepped])
    return ends


def _places(trace: Trace, results: Results, node: Array, spent: Array) -> tuple[EvaluationPlace, ...]:
    stacks, nodes, lines = trace.context.stacks, trace.stack_nodes, results.get(StackLines)
    assert stacks is not None
    caller = results.get(NodeFacts).caller[node]
    rows, spent = caller[caller >= 0], spent[caller >= 0]
    led = lines.cell_line[rows]
    keys = np.stack((nodes["sampled_file"][rows], nodes["line"][rows], led), axis=1).astype(np.int64)
    distinct, group = np.unique(keys, axis=0, return_inverse=True)
    held = np.bincount(group.reshape(-1), weights=spent, minlength=len(distinct))
    found = []
    for row in np.argsort(-held, kind="stable").tolist():
        file, line, cell_line = (int(each) for each in distinct[row])
        described = stacks.files[file]
        if line > 0:
            in_cell = described.kind == "cell"
            count = None if in_cell else described.execution_count
            found.append(EvaluationPlace(line, in_cell, count, cell_line if cell_line > 0 else None, int(held[row])))
    return tuple(found[:_MOST_PLACES])
