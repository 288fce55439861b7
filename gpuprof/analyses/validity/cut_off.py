"""Whether the file ends before the profiler had written everything: device work is written last, and is lost first."""

from __future__ import annotations

from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.validity.doubt import ALL, Doubt, Handling, ValidityCheck
from gpuprof.analyses.validity.lost_launches import LostLaunches
from gpuprof.model.trace import EndMark, Source, Trace

# Launches were lost in none of 37 whole public traces; in those whose last 40 % were missing it was 5 % and more.
_LOST_SHARE = 0.02
# The last call ended at 0.99 or more of the operators' time in whole traces, at 0.51 or less in most that were cut.
_CALLS_END_SHARE = 0.9
_REMEDY = "Save or copy the trace again, whole; until then no GPU figure in it can be trusted."
_REMEDY_CPU = "Save or copy the trace again, whole."


class CutOff(ValidityCheck):
    """Cannot judge: the end of the file, or device work that must have been in it, is missing."""

    order = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From how the file ends, else from launches that lack their kernels."""
        source, rank = trace.source, "This recording"
        reason = _reason(trace, results)
        for other in results.others:
            if reason is None and (reason := _reason(other.trace, other)) is not None:
                number, source = other.source.rank, other.source
                rank = "The recording of another rank" if number is None else f"The recording of rank {number}"
        if reason is None:
            return cls()
        on_device = bool(len(trace.device_events) or len(trace.calls) or trace.devices)
        return cls(
            Doubt(
                code="cut_off",
                sentence=f"{rank} is cut off: {reason}. It cannot be judged.",
                remedy=_REMEDY if on_device else _REMEDY_CPU,
                cannot_judge=True,
                spoils=ALL,
                handling=Handling.WITHHELD,
                restates=source.notes if source.truncated else (),
            )
        )


def _reason(trace: Trace, results: Results) -> str | None:
    source, lost = trace.source, results.get(LostLaunches)
    if source.truncated and source.end_mark is not EndMark.WINDOW:
        return f"{_where(source)}{_missing(lost, trace)}"
    if source.end_mark is EndMark.MISSING and (len(trace.device_events) or len(trace.calls) or trace.devices):
        return f"the profiler’s end mark is missing{_missing(lost, trace)}"
    if source.end_mark not in (EndMark.PROFILER, EndMark.CONVERTED):
        return None
    if lost.lost_share > _LOST_SHARE:
        return _without_kernel(lost)
    if lost.calls_end_share is not None and lost.calls_end_share < _CALLS_END_SHARE:
        return f"its GPU calls end after {units.percent(lost.calls_end_share)} of the run"
    return None


def _where(source: Source) -> str:
    """The reader's own note where it says so, in the middle of a sentence."""
    said = next((note for note in source.notes if "ends" in note), "the file ends in the middle")
    return f"{said[0].lower()}{said[1:]}".partition(";")[0].rstrip(".")


def _missing(lost: LostLaunches, trace: Trace) -> str:
    if not len(trace.device_events) and (trace.devices or len(trace.calls)):
        return ", with all GPU work missing"
    return f", and {_without_kernel(lost)}" if lost.lost else ""


def _without_kernel(lost: LostLaunches) -> str:
    return f"{units.count(lost.lost)} of {units.plural(lost.launches, 'launch', 'launches')} have no kernel"
