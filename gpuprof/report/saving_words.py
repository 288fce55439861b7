"""What a finding's change saves, in the words of every view: a range, or how to measure it."""

from __future__ import annotations

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.model.trace import Trace
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.saving.shown_saving import ShownSaving, shown_saving

_AS_CELL = "change the cell and run it with `--compare last`"
_AS_SCRIPT = "change it and compare two profiled runs (`run.compare(earlier)`)"
_AS_TRACE = "record the changed program and use `gpuprof compare`"


def shown(results: Results, finding: Finding) -> ShownSaving | None:
    """What is shown of the finding's saving; None where it has none."""
    return shown_saving(finding, on_device=bool(results.get(DeviceActivity).recorded))


def saving_words(results: Results, finding: Finding) -> str:
    """`about 40 % of the recorded time (33 % to 47 %)`, that without a range, `up to 2 %`, or `an unknown share`.

    Empty where the finding has no saving.
    """
    told, saving = shown(results, finding), finding.saving
    if told is None or saving is None:
        return ""
    low, central, high = (units.percent(each) for each in (told.low_share, told.share, told.high_share))
    if told.hidden is not None:
        return f"about {central} of {saving.whole}" if told.about else f"an unknown share of {saving.whole}"
    if told.from_zero:
        return f"up to {high} of {saving.whole}"
    return f"about {central} of {saving.whole}{f' ({low} to {high})' if low != high else ''}"


def measure_words(trace: Trace, results: Results, finding: Finding, number: int) -> str:
    """How to measure what finding `number` saves, where no range of it is shown: `%gputry`, or what else to do."""
    told = shown(results, finding)
    if told is None or told.hidden is None:
        return ""
    cell = trace.context.cell
    if cell is None:
        return _AS_TRACE
    if finding.diff:
        return f"`%gputry {number}`"
    return _AS_SCRIPT if cell.execution_count is None else _AS_CELL
