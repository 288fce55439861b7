"""What kind of run it is: no advice for training where nothing trains."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from gpuprof.analyses.accounts.cell_phases import CellPhases
from gpuprof.analyses.accounts.passes import Passes
from gpuprof.analyses.accounts.phase import Phase
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.run.operators import Operators
from gpuprof.model.trace import Trace

_GENERATION_SHARE = 0.3
_SERVING = ("execute_context", "execute_new", "execute_", "gpu_model_runner")
_CAPTURE = ("GraphInstantiate", "StreamBeginCapture", "StreamEndCapture")


class KindOfRun(StrEnum):
    """The value is the word that users read."""

    TRAINING = "training"
    GENERATION = "generation"
    SERVING = "serving"
    CAPTURE = "graph capture"
    INFERENCE = "inference"
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
        if any(capture in name for name in _names(trace, "calls") for capture in _CAPTURE):
            return cls(KindOfRun.CAPTURE, "a CUDA graph is captured")
        if any(name.startswith(_SERVING) for name in _names(trace, "user_ranges")):
            return cls(KindOfRun.SERVING, "a server's ranges run")
        if phases.share(Phase.GENERATION) >= _GENERATION_SHARE:
            return cls(KindOfRun.GENERATION, "tokens are generated")
        if results.get(Operators).uses:
            return cls(KindOfRun.INFERENCE, "operators run, and no gradient is computed")
        return cls(KindOfRun.OTHER, "no operator runs")


def _names(trace: Trace, table: str) -> set[str]:
    rows = trace.tables[table]
    return {trace.names[name] for name in set(rows["name"].tolist())} if len(rows) else set()
