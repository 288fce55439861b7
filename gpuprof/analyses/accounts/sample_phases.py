"""The phase of every stretch of the cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model import intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_FORWARD = (Phase.FORWARD, Phase.LOSS)


@dataclass(frozen=True, eq=False)
class SamplePhases(Result):
    """`phase`: for each of Stretches its place in PHASES, int8.

    The stack decides where it can (an optimizer, the DataLoader, a library that plots). Else it depends on when:
    before, in or after the training loop. The model is evaluated where it runs in a pass over a DataLoader without an
    optimizer step, or is called from a line that regular iterations hardly ever run, once training has begun; before
    that only without gradients or by a function whose name says so. Where both say so it is evaluated in any step.
    """

    phase: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the stacks, the passes, and the source of the cell."""
        stretches, passes, facts = results.get(Stretches), results.get(Passes), results.get(NodeFacts)
        if not len(stretches.node):
            return cls(np.zeros(0, np.int8))
        # row -1, the last, stands for stretches without code of the user
        said, without, named = (each[stretches.node] for each in (facts.said, facts.without, facts.named))
        middle = stretches.start_ns + stretches.duration_ns // 2
        silent, in_model = said < 0, np.isin(said, [PHASES.index(each) for each in _FORWARD])
        if not passes.trains:
            phase = np.where(silent, PHASES.index(Phase.OTHER), said)
            return cls(np.where((silent | in_model) & without, PHASES.index(Phase.INFERENCE), phase).astype(np.int8))
        first_ns = middle.max() + 1 if passes.first_ns is None else passes.first_ns
        around = np.where(middle < first_ns, PHASES.index(Phase.SET_UP), PHASES.index(Phase.OTHER))
        inside = intervals.contains(passes.training, middle)
        phase = np.where(silent, np.where(inside, PHASES.index(Phase.TRAINING), around), said)
        # without gradients inside of a step runs a teacher, or a policy that acts
        regular = _mostly(intervals.contains(passes.regular, middle), stretches, facts.caller)
        marked = (silent | in_model) & (without | named)
        apart = ~regular & (marked | (in_model & (middle >= first_ns)))
        apart |= (silent | in_model) & without & named
        apart |= (silent | in_model) & intervals.contains(passes.reading, middle)
        return cls(np.where(apart, PHASES.index(Phase.EVALUATION), phase).astype(np.int8))


def _mostly(inside: Array, stretches: Stretches, caller: Array) -> Array:
    """For each stretch: whether most of the time of the line that called, in the whole cell, is `inside`."""
    _, group = np.unique(caller[stretches.node], return_inverse=True)
    group = group.reshape(-1)
    held = np.bincount(group, weights=stretches.duration_ns * inside)
    most: Array = (2 * held >= np.bincount(group, weights=stretches.duration_ns))[group]
    return most
