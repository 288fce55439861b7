"""What kind of run it is: no advice for training where nothing trains."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.host_marks import named
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.modules.module_spans import ModuleSpans
from gpuprof.analyses.run.operators import Operators
from gpuprof.analyses.run.start_up import StartUp
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_GENERATION_SHARE = 0.3
_SERVING = ("execute_context", "execute_new", "execute_", "gpu_model_runner")
# what a layer runs, and hardly anything else
_LAYERS = tuple(
    f"aten::{name}"
    for name in (
        *("linear", "convolution", "conv1d", "conv2d", "conv3d", "embedding", "layer_norm", "batch_norm", "group_norm"),
        *("lstm", "gru", "rnn_", "scaled_dot_product_attention", "dropout", "max_pool", "adaptive_avg_pool"),
    )
)
_BEGINS, _ENDS, _MADE = "StreamBeginCapture", "StreamEndCapture", "GraphInstantiate"
# of the span: a run that captures its graphs once and then replays them is what it replays
_CAPTURE_SHARE = 0.5
# of the span, in first calls that load libraries and kernels
_START_UP_SHARE = 0.5
# of the time of a cell that only infers, in functions whose name says that they evaluate
_EVALUATION_SHARE = 0.5


class KindOfRun(StrEnum):
    """The value is the word that users read."""

    TRAINING = "training"
    GENERATION = "generation"
    SERVING = "serving"
    CAPTURE = "graph capture"
    START_UP = "start-up"
    EVALUATION = "evaluation"
    INFERENCE = "inference"
    COMPUTATION = "computation"  # operators, but no layer of a model
    OTHER = "other"


@dataclass(frozen=True)
class RunKind(Result):
    """`kind`: see KindOfRun; `why` in a few words."""

    kind: KindOfRun
    why: str

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From optimizer steps, backward passes, annotations and calls."""
        at, phases = results.get(Phases), results.get(CellPhases)
        if results.get(Passes).trains or at.optimizer.total_ns:
            return cls(KindOfRun.TRAINING, "an optimizer steps")
        if at.backward.total_ns or (results.get(Operators).backward_ns or 0) > 0:
            return cls(KindOfRun.TRAINING, "a backward pass runs")
        if trace.span_ns and _capturing(trace).total_ns >= _CAPTURE_SHARE * trace.span_ns:
            return cls(KindOfRun.CAPTURE, "most of the time CUDA graphs are captured")
        if any(name.startswith(_SERVING) for name in _names(trace, "user_ranges")):
            return cls(KindOfRun.SERVING, "a server's ranges run")
        if not len(trace.steps) and (results.get(StartUp).first_calls_share or 0.0) >= _START_UP_SHARE:
            return cls(KindOfRun.START_UP, "most of the time libraries and kernels are loaded")
        if phases.share(Phase.GENERATION) >= _GENERATION_SHARE:
            return cls(KindOfRun.GENERATION, "tokens are generated")
        if _evaluating(results) >= _EVALUATION_SHARE:
            return cls(KindOfRun.EVALUATION, "functions evaluate, and nothing trains")
        if results.get(Operators).uses and not _runs_a_model(trace, results):
            return cls(KindOfRun.COMPUTATION, "operators run, but no layer of a model")
        if results.get(Operators).uses:
            return cls(KindOfRun.INFERENCE, "operators run, and no gradient is computed")
        return cls(KindOfRun.OTHER, "no operator runs")


def _evaluating(results: Results) -> float:
    """The share of the sampled cell in functions whose name says that they evaluate, 0..1."""
    stretches = results.get(Stretches)
    if not stretches.total_ns:
        return 0.0
    return float(stretches.spent_ns[results.get(NodeFacts).named[stretches.node]].sum() / stretches.total_ns)


def _runs_a_model(trace: Trace, results: Results) -> bool:
    """Whether a module or a layer's operator ran. True where no stack was sampled: the trace alone does not tell."""
    if trace.context.stacks is None or results.get(ModuleSpans).source is not None:
        return True
    in_module = results.get(NodeFacts).in_module[results.get(Stretches).node]
    return bool(in_module.any()) or any(each.name.startswith(_LAYERS) for each in results.get(Operators).uses)


def _capturing(trace: Trace) -> Intervals:
    """From the begin of each capture to its end, and while graphs are made of what was captured; a union."""
    calls, known = trace.calls, _names(trace, "calls")
    if not any(_BEGINS in name or _MADE in name for name in known):
        return intervals.EMPTY
    start, end = calls["start_ns"], calls["start_ns"] + calls["duration_ns"]
    begun = np.sort(start[named(trace, calls, _BEGINS)])
    ended = np.append(np.sort(end[named(trace, calls, _ENDS)]), trace.span_end_ns)
    until = ended[np.searchsorted(ended[:-1], begun)]
    made = named(trace, calls, _MADE)
    return intervals.union(Intervals(np.concatenate((begun, start[made])), np.concatenate((until, end[made]))))


def _names(trace: Trace, table: str) -> set[str]:
    rows = trace.tables[table]
    return {trace.names[name] for name in set(rows["name"].tolist())} if len(rows) else set()
