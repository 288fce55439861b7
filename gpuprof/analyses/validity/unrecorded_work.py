"""Device work from before the recording, for which recorded work waits in the queue."""

from __future__ import annotations

from typing import Self

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.run.device_idle import DeviceIdle
from gpuprof.analyses.validity.cut_off import CutOff
from gpuprof.analyses.validity.doubt import Doubt, ValidityCheck
from gpuprof.analyses.validity.lost_kernels import LostKernels
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace

_LEAST_SHARE = 0.05
# of that time: then one call is what the host does in it
_NEARLY_ALL = 0.8


class UnrecordedWork(ValidityCheck):
    """Doubtful: at its start recorded work was queued and nothing recorded ran, so the device was not free."""

    order = 25

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the idle time in which the next piece of work had been launched long before."""
        part = results.get(DeviceIdle).parts.get("idle_unrecorded", intervals.EMPTY)
        if part.total_ns < _LEAST_SHARE * trace.span_ns or not part.total_ns:
            return cls()
        if results.get(CutOff).doubt is not None or results.get(LostKernels).doubt is not None:
            return cls()
        share, call = units.percent(part.total_ns / trace.span_ns), _call_in(trace, part)
        host = f" The host is in {call} meanwhile." if call else ""
        return cls(
            Doubt(
                code="unrecorded_work",
                sentence=f"For {units.duration(part.total_ns)}, {share} of the recording, queued work waits for device "
                f"work that was launched before the recording began.{host}",
                remedy="Record more iterations (`--steps 50`)."
                if trace.context.window is not None
                else "Call `torch.cuda.synchronize()` just before you start recording, or record more iterations.",
            )
        )


def _call_in(trace: Trace, part: Intervals) -> str:
    """The runtime call in which nearly all of that time passes; empty where there is none."""
    calls = trace.calls
    if not len(calls):
        return ""
    held = intervals.covered(part, calls["start_ns"], calls["start_ns"] + calls["duration_ns"])
    by_name = np.bincount(calls["name"], weights=held, minlength=len(trace.names))
    most = int(by_name.argmax())
    return trace.names[most] if by_name[most] >= _NEARLY_ALL * part.total_ns else ""
