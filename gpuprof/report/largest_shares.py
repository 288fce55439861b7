"""The largest shares of the time, in words: where to look when no finding says so, or beside what the findings say."""

from __future__ import annotations

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.hot_spot import HotSpot, is_import
from gpuprof.analyses.accounts.hot_spots import HotSpots
from gpuprof.analyses.accounts.idle_work import DeviceIdleWork, IdleWork
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.stack_lines import StackLines
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.analyses.validity.doubt import Evidence
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.report import device_shares
from gpuprof.report.saving_words import saving_words, shown
from gpuprof.report.spot_words import brief, in_short
from gpuprof.rules.base.finding import Finding
from gpuprof.rules.registry import rule

_SPOTS_NAMED = 2
# of the time: where all but imports is less, the cell is its imports
_LEAST_BESIDES_IMPORTS = 0.10
_LARGEST = "The largest shares of the time"
# of the time: less beside the findings is for the table, not for the verdict
_WORTH_NAMING = 0.20
# of a line's share: a minor finding that saves less leaves most of it unexplained
_MOST = 0.5


def goes_to(results: Results) -> str:
    """Where to look, where no finding says so; an all-clear would have to be earned."""
    if device_shares.device_bound(results):
        return device_shares.device_goes_to(results)
    spots, idle = _changeable(results)[:_SPOTS_NAMED], results.get(DeviceIdleWork).work[:1]
    found = [(spot.share, in_short(spot)) for spot in spots] + [(each.share, _idle(each)) for each in idle]
    told = [words for _, words in sorted(found, key=lambda each: -each[0])]
    return f"{_LARGEST}: {'; '.join(told)}." if told else ""


def no_finding_explains(results: Results, findings: tuple[Finding, ...] = ()) -> str:
    """`No rule applies to the largest shares of the time: …`, where a line has a large one and none of these findings,
    which are minor, explains it; else empty.

    A minor finding on that line that saves less than half of its share does not explain it. Where the device is the
    bottleneck, the lines are those that it works for."""
    if device_shares.device_bound(results):
        return _no_finding_explains_device(results, findings)
    large = [spot for spot in _changeable(results)[:1] if spot.share >= _WORTH_NAMING and spot.line is not None]
    if not any(not any(_explains_most(each, spot) for each in findings) for spot in large):
        return ""
    said = "No finding explains most of" if _pointed(findings, large) else "No rule applies to"
    return f"{said} the largest shares of the time{goes_to(results).removeprefix(_LARGEST)}"


def _no_finding_explains_device(results: Results, findings: tuple[Finding, ...]) -> str:
    spot = device_shares.unexplained_spot(results, findings)
    if spot is None or spot.share * device_shares.busy_share(results) < _WORTH_NAMING:
        return ""
    return f"No rule applies to the{device_shares.device_goes_to(results).removeprefix('The')}"


def minor_only(results: Results, findings: tuple[Finding, ...]) -> str:
    """What the verdict says where all findings are minor: that none explains the largest shares, or where these are.
    One that is minor since it is not certain, of a large saving, comes first."""
    count = units.plural(len(findings), "minor finding")
    told = [(shown(results, each), each) for each in findings]
    foreseen = [(saving.share, each) for saving, each in told if saving is not None and saving.about]
    share, largest = max(foreseen, key=lambda each: each[0], default=(0.0, None))
    if largest is not None and share >= _WORTH_NAMING:
        title = f"{largest.title.rstrip('.')} ({saving_words(results, largest)})"
        return f"Not certain, but worth a look: {title}. {count[0].upper()}{count[1:]} below."
    if said := no_finding_explains(results, findings):
        return f"{said} Below: {count}."
    return f"Only {count}, below. {goes_to(results)}".strip()


def elsewhere(results: Results, findings: tuple[Finding, ...]) -> tuple[float, str]:
    """The largest share of the time that none of the findings speaks of, and where it goes; 0 and "" where it is small.

    On a device, findings about kernels say nothing of its idle time, and others that save less than half of it little.
    Without one, a finding with lines says nothing of another line, and one without lines nothing of a larger share than
    it saves.
    """
    if device_shares.device_bound(results):
        spot = device_shares.unexplained_spot(results, findings)
        share = 0.0 if spot is None else spot.share * device_shares.busy_share(results)
        left = [] if spot is None else [(share, f"of the device’s work {device_shares.in_short(results, spot)}")]
    elif results.get(DeviceActivity).primary is not None:
        left = [
            (each.share, _idle(each))
            for each in results.get(DeviceIdleWork).work[:1]
            if not any(_speaks_of_idle(finding, each) for finding in findings)
        ]
    else:
        left = [
            (spot.share, in_short(spot))
            for spot in _changeable(results)
            if not any(_speaks_of(each, spot) for each in findings)
        ][:1]
    return next(((share, words) for share, words in left if share >= _WORTH_NAMING), (0.0, ""))


def explained_share(results: Results, findings: tuple[Finding, ...]) -> float:
    """The share of the time that these findings speak of, 0..1: of the cell where its stack was sampled, by the lines
    that they point to, else of the recording, by the times that they are about. No less than what one of them saves:
    its lines may be where the cause is, and not where the time goes."""
    stretches = results.get(Stretches)
    if stretches.total_ns:
        lines = {line for each in findings for line in each.where.lines}
        # the last, -1: no code of the user
        passed = np.append(results.get(StackLines).through(lines), False)[stretches.node]
        share = float(stretches.spent_ns[passed].sum() / stretches.total_ns)
    else:
        times = [_times_of(each) for each in findings]
        within = intervals.clip(intervals.joined(*times), results.span_start_ns, results.span_end_ns)
        share = within.total_ns / results.span_ns if results.span_ns else 0.0
    saved = (told.share for each in findings if (told := shown(results, each)) is not None)
    return min(max([share, *saved]), 1.0)


def times_known(results: Results, findings: tuple[Finding, ...]) -> bool:
    """Whether it is known when the causes of all these findings take time: by lines where the stack was sampled."""
    if results.get(Stretches).total_ns:
        return True
    return all(each.during is not None or (each.saving and each.saving.within is not None) for each in findings)


def _times_of(finding: Finding) -> Intervals:
    if finding.during is not None:
        return finding.during
    if finding.saving is not None and finding.saving.within is not None:
        return finding.saving.within
    shown = np.array(finding.where.ranges_ns, np.int64).reshape(-1, 2)
    return Intervals(shown[:, 0], shown[:, 1])


def _changeable(results: Results) -> tuple[HotSpot, ...]:
    """The hot spots without imports, which take what they take; all of them where little else takes time. The device's
    idle time is told apart."""
    spots = tuple(spot for spot in results.get(HotSpots).spots if not spot.idle)
    rest = tuple(spot for spot in spots if not is_import(spot))
    return rest if rest and rest[0].share >= _LEAST_BESIDES_IMPORTS else spots


def _pointed(findings: tuple[Finding, ...], spots: list[HotSpot]) -> bool:
    return any(each.where.lines and _speaks_of(each, spot) for each in findings for spot in spots)


def _explains_most(finding: Finding, spot: HotSpot) -> bool:
    if not finding.where.lines or not _speaks_of(finding, spot):
        return False
    return finding.saving is None or finding.saving.share >= _MOST * spot.share


def _speaks_of_idle(finding: Finding, work: IdleWork) -> bool:
    if rule(finding.rule).rests_on <= {Evidence.GPU_TIMES}:
        return False
    return finding.saving is None or finding.saving.share >= _MOST * work.share


def _idle(work: IdleWork) -> str:
    share = units.percent(work.share)
    if work.waits:
        return f"{share} in {brief(work.what)}, with no work of the device recorded meanwhile"
    return f"{share} GPU idle while the CPU was in {brief(work.what)}"


def _speaks_of(finding: Finding, spot: HotSpot) -> bool:
    lines, saving = finding.where.lines, finding.saving
    if not lines:
        return saving is None or saving.share >= spot.share
    own = {spot.line, *(line for line, _ in spot.lines)} if spot.is_cell else set()
    return spot.line is None or not own.union({spot.cell_line}, spot.way).isdisjoint(lines)
