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
# a line's share of regular iterations over that of long ones: an evaluation has next to none of the former
_AS_MUCH = 0.5
# of the time, in backward passes: less is a gradient or two of an analysis
_TRAINS = 0.05
_ALL_OF_IT = 0.9  # of a line's time, in the loop: more of it elsewhere is no part of the iterations


@dataclass(frozen=True, eq=False)
class SamplePhases(Result):
    """`phase`: for each of Stretches its place in PHASES, int8.

    The stack decides where it can (an optimizer, the DataLoader, a library that plots). Else it depends on when:
    before, in or after the training loop. The model is evaluated where it runs in a pass over a DataLoader without an
    optimizer step, or is called from a line that regular iterations hardly ever run, once training has begun, but for
    blocks that compute gradients; before that only without gradients or by a function whose name says so. In whichever
    iteration it is evaluated by a function that is named so and runs without gradients, and in a loop between
    `model.eval()` and `model.train()`.
    Where the source shows that nothing is measured there, neither a loss nor a metric nor equality with targets, it
    infers: it serves, labels or extracts features.
    Without an optimizer of torch's, code without gradients infers; in a cell with backward passes only where it calls a
    model: the rest may be a step that is written by hand.
    A function whose name says that it generates does so wherever the model would be evaluated, or infers.
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
        generating = facts.generating[stretches.node]
        middle = stretches.start_ns + stretches.duration_ns // 2
        silent, in_model = said < 0, np.isin(said, [PHASES.index(each) for each in _FORWARD])
        if not passes.trains:
            phase = np.where(silent, PHASES.index(Phase.OTHER), said)
            # where gradients are computed, what else runs without them may be a step that is written by hand
            backward = said == PHASES.index(Phase.BACKWARD)
            infers = (
                in_model if stretches.duration_ns[backward].sum() >= _TRAINS * stretches.total_ns else silent | in_model
            )
            phase = np.where(infers & without, PHASES.index(Phase.INFERENCE), phase)
            return cls(_generated(phase, (silent | in_model) & generating))
        first_ns = middle.max() + 1 if passes.first_ns is None else passes.first_ns
        around = np.where(middle < first_ns, PHASES.index(Phase.SET_UP), PHASES.index(Phase.OTHER))
        inside = intervals.contains(passes.training, middle)
        phase = np.where(silent, np.where(inside, PHASES.index(Phase.TRAINING), around), said)
        # without gradients inside of a step runs a teacher, or a policy that acts
        regular = _regular(intervals.contains(passes.regular, middle), inside, stretches, facts.caller)
        marked = (silent | in_model) & (without | named | generating)
        unlike = in_model & (middle >= first_ns) & ~facts.training[stretches.node]
        apart = ~regular & (marked | unlike)
        apart |= (silent | in_model) & intervals.contains(passes.reading, middle)
        apart |= (silent | in_model) & facts.evaluating[stretches.node]
        beside = np.where(
            facts.measuring[stretches.node], PHASES.index(Phase.EVALUATION), PHASES.index(Phase.INFERENCE)
        )
        return cls(_generated(np.where(apart, beside, phase), apart & generating))


def _generated(phase: Array, generating: Array) -> Array:
    return np.where(generating, PHASES.index(Phase.GENERATION), phase).astype(np.int8)


def _regular(regular: Array, inside: Array, stretches: Stretches, caller: Array) -> Array:
    """For each stretch: whether the line that called is one of regular iterations. It is where these hold most of its
    time, or as much of theirs as the long ones hold of their own: where iterations differ widely in length, most of
    any line's time may be in long ones.
    """
    spent, long = stretches.duration_ns, inside & ~regular
    _, group = np.unique(caller[stretches.node], return_inverse=True)
    group = group.reshape(-1)
    whole, held, in_long = (np.bincount(group, weights=spent * where) for where in (1, regular, long))
    # shares of two wholes, multiplied by both: none has to be there
    as_much = (held > 0) & (held * (spent * long).sum() >= _AS_MUCH * in_long * (spent * regular).sum())
    most: Array = ((2 * held >= whole) | (as_much & (held + in_long >= _ALL_OF_IT * whole)))[group]
    return most
