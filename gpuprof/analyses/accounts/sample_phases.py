"""The phase of every stretch of the cell in which its thread was seen with one stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.library_phases import YIELDING, is_module_call, phase_of
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.source_phases import evaluates, lines_without_gradients
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model import intervals
from gpuprof.model.context import SampledFile
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook", "module")
_MOST_LINES = 1_000_000
_FORWARD = (Phase.FORWARD, Phase.LOSS)


@dataclass(frozen=True, eq=False)
class SamplePhases(Result):
    """`phase`: for each of Stretches its place in PHASES, int8.

    The stack decides where it can (an optimizer, the DataLoader, a library that plots). Else the pass over a DataLoader
    does, a `no_grad` block or the name of a function; else whether it is before, in or after the training loop.
    """

    phase: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the stacks, the passes, and the source of the cell."""
        stretches, passes = results.get(Stretches), results.get(Passes)
        if not len(stretches.node):
            return cls(np.zeros(0, np.int8))
        known = _Nodes(trace)
        # the last row stands for stretches without code of the user
        said, without, named = known.said[stretches.node], known.without[stretches.node], known.named[stretches.node]
        middle = stretches.start_ns + stretches.duration_ns // 2
        silent = said < 0
        forward = silent | np.isin(said, [PHASES.index(each) for each in _FORWARD])
        if not passes.trains:
            phase = np.where(silent, PHASES.index(Phase.OTHER), said)
            return cls(np.where(forward & without, PHASES.index(Phase.INFERENCE), phase).astype(np.int8))
        reading = intervals.contains(passes.reading, middle)
        # without gradients inside of a step runs a teacher, or a policy that acts
        stepping = _mostly(intervals.contains(passes.regular, middle), stretches, results.get(StackLines))
        apart = forward & (reading | (~stepping & (without | named)))
        first_ns = middle.max() + 1 if passes.first_ns is None else passes.first_ns
        around = np.where(middle < first_ns, PHASES.index(Phase.SET_UP), PHASES.index(Phase.OTHER))
        inside = intervals.contains(passes.training, middle)
        phase = np.where(silent, np.where(inside, PHASES.index(Phase.TRAINING), around), said)
        return cls(np.where(apart, PHASES.index(Phase.EVALUATION), phase).astype(np.int8))


def _mostly(inside: Array, stretches: Stretches, lines: StackLines) -> Array:
    """For each stretch: whether most of the time of its line, in the whole cell, is `inside`."""
    line = np.append(lines.source_file * _MOST_LINES + lines.line, -1)[stretches.node]
    _, group = np.unique(line, return_inverse=True)
    group = group.reshape(-1)
    held = np.bincount(group, weights=stretches.duration_ns * inside)
    most: Array = (2 * held >= np.bincount(group, weights=stretches.duration_ns))[group]
    return most


class _Nodes:
    """What each node of the tree of stacks says by itself, and one row more for no stack: `said`, its place in PHASES
    or -1; `without`: gradients are not recorded there; `named`: a function of the user's names an evaluation."""

    def __init__(self, trace: Trace):
        stacks, cell = trace.context.stacks, trace.context.cell
        files: tuple[SampledFile, ...] = stacks.files if stacks else ()
        functions = stacks.functions if stacks else ()
        sources = [cell.source if each.kind == "cell" and cell else each.source for each in files]
        known: list[_Said] = []
        for parent, file, function, line in zip(
            *(trace.stack_nodes[name] for name in ("parent", "sampled_file", "function", "line")), strict=True
        ):
            above = known[parent] if parent >= 0 else _NOTHING
            known.append(_below(above, files[file], sources[file], functions[function], int(line)))
        known.append(_NOTHING)
        self.said = np.array([-1 if said is None else PHASES.index(said) for said, _, _ in known], np.int64)
        self.without = np.array([gradients is False for _, gradients, _ in known], bool)
        self.named = np.array([named for _, _, named in known], bool)


_Said = tuple[Phase | None, bool | None, bool]
_NOTHING: _Said = (None, None, False)


def _below(above: _Said, file: SampledFile, source: str, function: str, line: int) -> _Said:
    said, gradients, names = above
    if file.kind in _OWN:
        if said in YIELDING:
            said = None
        if line in lines_without_gradients(source):
            gradients = False
        return said, gradients, names or evaluates(function)
    if file.filename.endswith("_contextlib.py") and function.endswith("decorate_context"):
        gradients = False
    if said is None or said is Phase.FORWARD or said in YIELDING:
        said = phase_of(file.filename, function) or said
        if said is None and is_module_call(file.filename, function):
            said = Phase.FORWARD
    return said, gradients, names
