"""What the cell was doing at a time, as far as graphs are needed there."""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.memory import holder_text
from gpuprof.model.trace import Trace

_WITHOUT_BACKWARD = (Phase.EVALUATION, Phase.INFERENCE, Phase.GENERATION)


class GraphNeeds:
    """What the cell was doing when."""

    def __init__(self, trace: Trace, results: Results):
        stretches = results.get(Stretches)
        order = np.argsort(stretches.start_ns, kind="stable")
        self._starts, self._phase = stretches.start_ns[order], results.get(SamplePhases).phase[order]
        self._trains = bool(trace.context.optimizers)

    def may_go_backward(self, time_ns: int | None, texts: list[str]) -> bool:
        """Whether what ran at that time may have needed its graphs."""
        if not self._trains and not any(holder_text.has_backward(each) for each in texts):
            return False
        at = int(np.searchsorted(self._starts, time_ns or 0, side="right")) - 1
        return at < 0 or PHASES[self._phase[at]] not in _WITHOUT_BACKWARD
