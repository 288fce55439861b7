"""What each stack says of its phase by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.accounts.library_phases import YIELDING, is_module_call, phase_of
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.source_phases import (
    evaluates,
    generates,
    is_training_step,
    lines_of_evaluation,
    lines_of_logging,
    lines_of_training,
    lines_without_gradients,
)
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.training.measuring_lines import lines_that_measure
from gpuprof.frameworks import Framework, framework
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_OWN = ("cell", "notebook", "module")


@dataclass(frozen=True, eq=False)
class NodeFacts(Result):
    """Arrays with a row for each of `stack_nodes`, and one more at the end for no stack.

    `said`: the phase, its place in PHASES; -1 where the stack does not say. `without`: gradients are not recorded
    there; `named`: a function of the user's names an evaluation; `evaluating`: the source says that it is one, in
    whichever iteration; `generating`: a function of the user's names a generation; `training`: the block that called
    the model computes gradients, or is a training step by its name; `measuring`: the source compares results with
    targets there, or is not known. `in_module`: an `nn.Module`, or a compiled function, is called. `caller`: the row of
    the user's line that called the model, else of the innermost line of the user's; -1 where there is none.
    """

    said: Array
    without: Array
    named: Array
    evaluating: Array
    generating: Array
    training: Array
    measuring: Array
    in_module: Array
    caller: Array

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Parents stand before their children, so one pass is enough."""
        stacks = trace.context.stacks
        nodes, known = trace.stack_nodes, list[_Known]()
        if stacks is None:
            return cls._of([_NOTHING] * (len(nodes) + 1))
        files, functions = stacks.files, stacks.functions
        frameworks = tuple(filter(None, (framework(each.package) for each in trace.context.frameworks)))
        sources = [trace.context.described(each).source for each in files]
        columns = [nodes[name].tolist() for name in ("parent", "sampled_file", "function", "line")]
        for row, (parent, file, function, line) in enumerate(zip(*columns, strict=True)):
            above = known[parent] if parent >= 0 else _NOTHING
            if files[file].kind in _OWN:
                known.append(_in_own(above, row, sources[file], line, functions[function]))
            else:
                known.append(_in_library(above, files[file].filename, functions[function], frameworks))
        return cls._of([*known, _NOTHING])

    @classmethod
    def _of(cls, known: list[_Known]) -> Self:
        return cls(
            said=np.array([-1 if each.said is None else PHASES.index(each.said) for each in known], np.int64),
            without=np.array([each.without for each in known], bool),
            named=np.array([each.named for each in known], bool),
            evaluating=np.array([each.evaluating or (each.named and each.without) for each in known], bool),
            generating=np.array([each.generating for each in known], bool),
            training=np.array([each.training for each in known], bool),
            measuring=np.array([each.measuring or each.named or each.evaluating for each in known], bool),
            in_module=np.array([each.in_model for each in known], bool),
            caller=np.array([each.caller for each in known], np.int64),
        )


class _Known(NamedTuple):
    said: Phase | None
    without: bool
    named: bool
    caller: int
    in_model: bool
    evaluating: bool
    generating: bool
    training: bool
    measuring: bool
    stepping: bool


_NOTHING = _Known(None, False, False, -1, False, False, False, False, False, False)


def _in_own(above: _Known, row: int, source: str, line: int, function: str) -> _Known:
    measuring = lines_that_measure(source)
    # an optimizer, which runs without gradients, calls nothing of the user's but a closure, with gradients
    closure = above.said is Phase.OPTIMIZER
    stepping = above.stepping or is_training_step(function) or closure
    said = None if above.said in YIELDING else above.said
    return _Known(
        said=Phase.LOGGING if said is None and line in lines_of_logging(source) else said,
        without=(above.without and not closure) or line in lines_without_gradients(source),
        named=above.named or evaluates(function),
        caller=above.caller if above.in_model else row,
        in_model=above.in_model,
        evaluating=above.evaluating or line in lines_of_evaluation(source),
        generating=above.generating or generates(function),
        training=above.training if above.in_model else stepping or line in lines_of_training(source),
        # what a model computes inside is measured by who called it
        measuring=above.measuring or (not above.in_model and (measuring is None or line in measuring)),
        stepping=stepping,
    )


def _in_library(above: _Known, filename: str, function: str, frameworks: tuple[Framework, ...]) -> _Known:
    said, in_model = above.said, above.in_model or is_module_call(filename, function)
    if said is None or said is Phase.FORWARD or said in YIELDING:
        # a line that prints what a model gives runs the model
        kept = None if in_model and said is Phase.LOGGING else said
        said = phase_of(filename, function) or kept or (Phase.FORWARD if in_model else None)
    decorated = filename.endswith("_contextlib.py") and function.endswith("decorate_context")
    evaluating = above.evaluating or any(each.evaluates_in(filename, function) for each in frameworks)
    return above._replace(
        said=said,
        without=above.without or decorated,
        in_model=in_model,
        evaluating=evaluating,
        measuring=above.measuring or evaluating,
        stepping=above.stepping or is_training_step(function),
    )
