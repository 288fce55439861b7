"""A saving never exceeds its cause: what a title says that something takes bounds what its change saves.

A reader compares the two figures, so both are held to what the title says, whatever a rule put there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Self

from gpuprof import units
from gpuprof.analyses.basics.plain_iterations import PlainIterations
from gpuprof.analyses.basics.result import Results
from gpuprof.rules.base.finding import Finding, Saving
from gpuprof.rules.saving.scope import Scope


class NamedWhole(Enum):
    """What a share in a title is a share of, by the words for it. All are times, or parts of one."""

    STEPS = "the steps’ time"
    STEP = "step time"
    RECORDED = "the recorded time"
    PLAIN = "the time without recording"
    CELL = "the cell"
    OPERATORS = "the operators’ time"
    KERNELS = "the kernel time"


# what a title says of a wait that was seen, and what it says where more follows from that
_COSTS = (
    (re.compile(r"leaves (?:it|the device) idle for"), "costs"),
    (re.compile(r"^The [a-z ]+ waits for data"), "Waiting for data costs"),
    (re.compile(r"is lost in gaps$"), "is lost"),
)
_ALL = 1 - 1e-9
# of the last digit: what is added there is still read as that figure
_ROUNDED = 0.499
# what is about a share, by samples, says itself what it takes at most
_SHARE = re.compile(rf"(?<!about )(?<![0-9.])([0-9.]+) % of ({'|'.join(each.value for each in NamedWhole)})(?!’)")


@dataclass(frozen=True)
class NamedShare:
    """`text` as it stands in a title, such as `67 % of the steps’ time`; `share` 0..1, the largest that reads so."""

    text: str
    share: float
    whole: NamedWhole

    @classmethod
    def of(cls, title: str) -> Self | None:
        """The first share of a time in the title; None where it names none."""
        found = _SHARE.search(title)
        if found is None:
            return None
        digits = len(found[1].partition(".")[2])
        most = (float(found[1]) + _ROUNDED * 10**-digits) / 100
        return cls(found[0], min(most, 1.0), NamedWhole(found[2]))


def may_cost_more(title: str) -> bool:
    """Whether the title speaks of a wait that was seen, whose removal may shrink others."""
    return any(seen.search(title) for seen, _ in _COSTS)


def bounded(results: Results, found: Finding, saving: Saving) -> tuple[Finding, Saving]:
    """Both, with the saving no larger than the share that the title names.

    Where more is known to be saved, the title says so instead, as a share of the same whole as the saving: by the most
    that iterations without the recording show for it, or, of a wait that was seen, by the run simulated without it, in
    which other waits shrink with that one.
    """
    named = NamedShare.of(found.title)
    if named is None or saving.share <= 0:
        return found, saving
    most = named.share * _part_of_the_whole(results, named, saving)
    if _measured(results, saving) and saving.share > most:
        # the ceiling may be that of all that is like the cause
        most = max(most, saving.most_share)
    elif found.replay_edit is not None and may_cost_more(found.title):
        most = max(most, saving.share)
    saving = _at_most(saving, min(most, saving.ceiling_share))
    if units.percent(most) == units.percent(named.share) or most <= named.share:
        return found, saving
    title = found.title.replace(named.text, f"{units.percent(most)} of {saving.whole}")
    if found.replay_edit is not None:
        for seen, costs in _COSTS:
            title = seen.sub(costs, title)
    return replace(found, title=title), saving


def _measured(results: Results, saving: Saving) -> bool:
    """Whether the ceiling is what iterations without the recording show of the cause, and not all of the steps."""
    return saving.ceiling_share * max(saving.per_step, 1.0) < _ALL and results.get(PlainIterations).plain is not None


def _part_of_the_whole(results: Results, named: NamedShare, saving: Saving) -> float:
    """Which part the title's whole is of the saving's, at most 1."""
    if named.whole not in (NamedWhole.STEPS, NamedWhole.STEP):
        return 1.0
    if saving.of_cell:
        return 1 / max(saving.per_step, 1.0)
    scope = Scope.of(results)
    return min(scope.total_ns / scope.span_ns, 1.0) if scope.steps and scope.span_ns else 1.0


def _at_most(saving: Saving, most: float) -> Saving:
    """The saving with no share, and no time, above that share of its whole."""
    most_ns = saving.central_ns / saving.share * most
    low, central, high = (min(ns, most_ns) for ns in (saving.low_ns, saving.central_ns, saving.high_ns))
    return replace(
        saving, low_ns=low, central_ns=central, high_ns=high, share=min(saving.share, most), ceiling_share=most
    )
