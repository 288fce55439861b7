"""What a finding's change saves, in the words of every view: one figure with its range, or how to measure it."""

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
    """`saves about 40% (33–47%)`; `saves about 40% (at least 33%)` where the range goes on above what the cause was
    seen to take; `saves 14–22%` where the middle is the upper end; `could save about 40%` where the
    range is too wide to be of use, and `could save up to 60%` where it begins at 0, or its middle is no more than a
    guess.

    Empty where the finding has no saving. What it is a share of is `finding.saving.whole`.
    """
    told = shown(results, finding)
    if told is None:
        return ""
    low, central, high = (_percent(each) for each in (told.low_share, told.share, told.high_share))
    if told.hidden is not None or told.from_zero:
        return f"could save about {central}" if _is_sure(told) else f"could save up to {high}"
    if low != high and told.at_least:
        return f"saves about {central} (at least {low})" if low != central else f"saves at least {low}"
    if low != high and (central == high or told.upper_bound):
        return f"saves {low.removesuffix('%')}–{high}"
    return f"saves about {central}" + (f" ({low.removesuffix('%')}–{high})" if low != high else "")


def gain_words(told: ShownSaving) -> str:
    """The same in a sentence of the verdict, without the range: `saving about 40 %`, `saving up to 40 %` where its
    middle is its upper end, `could save up to 60 %`."""
    if told.hidden is None and not told.from_zero:
        low, central, high = (_percent(each) for each in (told.low_share, told.share, told.high_share))
        if low != high and not told.at_least and (central == high or told.upper_bound):
            return f"saving up to {units.percent(told.high_share)}"
        return f"saving about {units.percent(told.share)}"
    if _is_sure(told):
        return f"could save about {units.percent(told.share)}"
    return f"could save up to {units.percent(told.high_share)}"


def _is_sure(told: ShownSaving) -> bool:
    """Whether its middle is more than a guess, and less than its upper end."""
    return (
        not told.upper_bound and told.about and not told.from_zero and _percent(told.share) != _percent(told.high_share)
    )


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


def saving_phrase(saving: str, measure: str) -> str:
    """`saves about 40% (33–47%)`, or `could save up to 60%; run %gputry 1 to measure it`; empty without a saving."""
    if not saving or not measure:
        return saving
    if measure.startswith("`%"):
        return f"{saving}; run {measure} to measure it"
    return f"{saving}; to measure it, {measure}"


def _percent(share: float) -> str:
    return units.percent(share).replace(" ", "")
