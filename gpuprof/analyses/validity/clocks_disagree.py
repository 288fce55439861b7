"""Device work that begins before its launch: the clocks of CPU and GPU disagree."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.launches import Launches
from gpuprof.analyses.validity.doubt import Doubt, Evidence, Handling, ValidityCheck
from gpuprof.model.trace import Trace


class ClocksDisagree(ValidityCheck):
    """Doubtful: durations hold, but not what waits for what."""

    order = 30

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the device events that begin before their launch."""
        launches = results.get(Launches)
        if launches.clock_ok is not False:
            return cls()
        early = units.plural(launches.kernels_before_launch, "device event")
        begins = "begins before its" if launches.kernels_before_launch == 1 else "begin before their"
        return cls(
            Doubt(
                code="clocks_disagree",
                sentence=f"Clocks of CPU and GPU disagree: {early} {begins} launch, so waits may be wrong.",
                remedy="Record again; update the GPU driver if it comes back.",
                spoils=frozenset({Evidence.WAITS}),
                handling=Handling.LOWERED,
            )
        )
