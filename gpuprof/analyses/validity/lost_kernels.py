"""Device work that is missing from a whole recording: never captured, or lost on the way."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.cut_off import CutOff
from gpuprof.analyses.validity.doubt import Doubt, Evidence, Handling, ValidityCheck
from gpuprof.analyses.validity.lost_launches import LostLaunches
from gpuprof.model.trace import Trace

_SPOILED = frozenset({Evidence.GPU_TIMES, Evidence.WAITS})
_FEW_SHARE = 0.01  # of the launches: no figure moves by it
_MOST_SHARE = 0.5  # of them: the rest says nothing of the device


class LostKernels(ValidityCheck):
    """Doubtful, or cannot judge where most kernels are lost."""

    order = 20

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From launches without device work; a recording that is cut off says so itself."""
        if results.get(CutOff).doubt is not None:
            return cls()
        if trace.device_recorded is False:
            return cls(
                Doubt(
                    code="device_not_captured",
                    sentence="Device activity was not captured: kernels were launched, but none was recorded, so this "
                    "run cannot be judged.",
                    remedy="Run `gpuprof doctor`: it shows why.",
                    cannot_judge=True,
                    spoils=_SPOILED,
                    handling=Handling.WITHHELD,
                )
            )
        lost = results.get(LostLaunches)
        if lost.lost_share <= _FEW_SHARE:
            return cls()
        most = lost.lost_share >= _MOST_SHARE
        figures = (
            f"{units.percent(lost.lost_share)} of {units.plural(lost.launches, 'kernel launch', 'kernel launches')}"
        )
        return cls(
            Doubt(
                code="kernels_lost",
                sentence=f"Kernels were lost: {figures} have none in this recording"
                + (", so it cannot be judged." if most else "; GPU figures are too small."),
                remedy="Record fewer steps, and update torch and the GPU driver.",
                cannot_judge=most,
                spoils=_SPOILED,
                handling=Handling.WITHHELD if most else Handling.LOWERED,
            )
        )
