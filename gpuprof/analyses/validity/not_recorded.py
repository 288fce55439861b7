"""A run whose kernel recording was lost."""

from __future__ import annotations

from typing import Self

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.doubt import ALL, Doubt, Handling, ValidityCheck
from gpuprof.model.trace import Trace


class NotRecorded(ValidityCheck):
    """Cannot judge: torch's profiler left nothing to read."""

    order = 10

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From what the reader found."""
        if trace.source.kernels_saved:
            return cls()
        reasons = (*trace.source.notes, *trace.context.notes)
        why = f" {reasons[-1][0].upper()}{reasons[-1][1:].rstrip('.')}." if reasons else ""
        return cls(
            Doubt(
                code="not_recorded",
                sentence="Nothing was recorded in this run.",
                remedy=f"Nothing can be judged.{why}",
                cannot_judge=True,
                spoils=ALL,
                handling=Handling.WITHHELD,
                restates=reasons[-1:],
            )
        )
