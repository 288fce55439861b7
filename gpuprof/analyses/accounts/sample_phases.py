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
from gpuprof.model import intervals
from gpuprof.model.context import SampledFile
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook", "module")
_FORWARD = (Phase.FORWARD, Phase.LOSS)


@dataclass(frozen=True, eq=False)
class SamplePhases(Result):
    """`phase`: for each row of `stack_samples` its place in PHASES, int8.

    The stack decides where it can (an optimizer, the DataLoader, a library that plots). Else the pass over a DataLoader
    does, a `no_grad` block or the name of a function; else whether it is before, in or after the training loop.
    """

    phase: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the stacks, the passes, and the source of the cell."""
        samples = trace.stack_samples
        if not len(samples):
            return cls(np.zeros(0, np.int8))
        passes, nodes = results.get(Passes), _Nodes(trace)
        middle = samples["start_ns"] + samples["duration_ns"] // 2
        reading = intervals.contains(passes.reading, middle)
        training = intervals.contains(passes.training, middle)
        regular = intervals.contains(passes.regular, middle)
        found = np.zeros(len(samples), np.int8)
        for row, node in enumerate(samples["node"]):
            said, gradients, named = nodes.at(int(node))
            # without gradients inside of a step runs a teacher, or a policy that acts
            apart = reading[row] or (not regular[row] and (gradients is False or named))
            if passes.trains:
                phase = _in_training(said, bool(apart), bool(training[row]), int(middle[row]), passes.first_ns)
            else:
                phase = _without_training(said, gradients is False)
            found[row] = PHASES.index(phase)
        return cls(found)


def _in_training(said: Phase | None, apart: bool, training: bool, at_ns: int, first_ns: int | None) -> Phase:
    if apart and (said is None or said in _FORWARD):
        return Phase.EVALUATION
    if said is not None:
        return said
    if training:
        return Phase.TRAINING
    return Phase.SET_UP if first_ns is not None and at_ns < first_ns else Phase.OTHER


def _without_training(said: Phase | None, without_gradients: bool) -> Phase:
    if without_gradients and (said is None or said in _FORWARD):
        return Phase.INFERENCE
    return said or Phase.OTHER


class _Nodes:
    """What each node of the tree of stacks says by itself: its phase, whether gradients are recorded there (False, or
    None where the source does not say), and whether a function of the user's names an evaluation."""

    def __init__(self, trace: Trace):
        stacks = trace.context.stacks
        cell = trace.context.cell
        files: tuple[SampledFile, ...] = stacks.files if stacks else ()
        functions = stacks.functions if stacks else ()
        sources = [cell.source if each.kind == "cell" and cell else each.source for each in files]
        self._known: list[tuple[Phase | None, bool | None, bool]] = []
        for parent, file, function, line in zip(
            *(trace.stack_nodes[name] for name in ("parent", "sampled_file", "function", "line")), strict=True
        ):
            above = self._known[parent] if parent >= 0 else (None, None, False)
            self._known.append(_below(above, files[file], sources[file], functions[function], int(line)))

    def at(self, node: int) -> tuple[Phase | None, bool | None, bool]:
        return self._known[node] if node >= 0 else (None, None, False)


def _below(
    above: tuple[Phase | None, bool | None, bool], file: SampledFile, source: str, function: str, line: int
) -> tuple[Phase | None, bool | None, bool]:
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
