"""Another torch profiler that was started in the cell, to which ours gave way."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.analyses.validity.doubt import ALL, Doubt, Handling, ValidityCheck
from gpuprof.model.trace import Trace

_GAVE_WAY = "starts a profiler of its own"
_TOOK_OVER = "another profiler was started in this cell"
_FEWEST_STEPS = 2
_LEAST_SHARE = 0.1  # of the cell, where no steps are known


class ForeignProfiler(ValidityCheck):
    """Doubtful, or cannot judge where hardly anything was recorded besides the other profiler."""

    order = 40

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the window and the notes of the capture."""
        window = trace.context.window
        notes = tuple(note for note in trace.context.notes if _GAVE_WAY in note or _TOOK_OVER in note)
        if window is None or not trace.source.kernels_saved or (not notes and window.ended_by != "profiler"):
            return cls()
        who = next((note.partition(f" {_GAVE_WAY}")[0] for note in notes if _GAVE_WAY in note), "")
        subject = f"{who[0].upper()}{who[1:]}" if who else "The cell"
        whole_ns, recorded_ns = window.cell_end_ns - window.cell_start_ns, window.end_ns - window.start_ns
        steps = results.get(StepTime).count
        little = steps < _FEWEST_STEPS if window.steps_seen else recorded_ns < _LEAST_SHARE * whole_ns
        recorded = f"only {units.duration(recorded_ns)} of the cell’s {units.duration(whole_ns)} were recorded"
        return cls(
            Doubt(
                code="foreign_profiler",
                sentence=f"{subject} starts another torch profiler: {recorded}"
                + (", so the cell cannot be judged." if little else "."),
                remedy="Switch that profiler off to record the whole cell.",
                cannot_judge=little,
                spoils=ALL if little else frozenset(),
                handling=Handling.WITHHELD if little else Handling.SAID,
                restates=notes,
            )
        )
