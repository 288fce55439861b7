"""A mask throws away all that was computed for it.

What it finds
    In the close look, work of whose results a selection takes no element: `torch.where(done, pad, token)` where all are
    done, a product with flags of which all are False. Either a loop continues after all of its flags are decided and
    can no longer change (`done |= token == end`), in 10% of the iterations looked at or more, or one of two branches
    is computed and was taken in none of them. It takes 5% of the operators' time or more.

Why it costs
    Each token that a model generates after the end of every sequence takes as long as the ones before. The mask was
    known before that work began.

What to do
    Leave the loop when all are decided: `if done.all(): break`. Compute a branch only where the mask asks for it, and
    take the other one else: `x = torch.where(mask, f(y), z) if mask.any() else z`. A branch for where the mask is False
    is not needed if `mask.all()`.

When to leave it
    When each call must take the same time, when the branch is taken in other parts of the cell, or when a captured or
    compiled loop must keep its length. On a GPU each test waits for the device: test only every few iterations there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.demand.masked_work import MaskedPlace, MaskedWork
from gpuprof.analyses.demand.unread_work import UnreadWork
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.guard import Guard
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_change import cell_diff
from gpuprof.rules.needless.deciding_loops import DecidingLoop, deciding_loop
from gpuprof.rules.needless.looked import cell_lines
from gpuprof.rules.needless.unread import all_at, at, unread_unknown
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import graded


@dataclass(frozen=True)
class MaskedResults(Rule):
    """See the module."""

    # fewer random numbers are drawn where the loop ends early
    guard = Guard.SEMANTIC

    fewest_runs: int = threshold(3, "of the selection that were looked at: fewer say nothing of the others")
    empty_share: float = threshold(0.10, "of these runs take nothing: less may be the end of a loop that ends")
    work_share: float = threshold(0.05, "of the operators’ time: less is not worth a change")
    low_share: float = threshold(0.10, "of the operators’ time: less matters little")
    high_share: float = threshold(0.30, "of the operators’ time: then fix it first")
    heavy_share: float = threshold(0.5, "of that time: an element-wise branch is what a selection is for")
    seen_share: float = threshold(0.5, "of the operators of the looked-at iterations: then one of two is whole")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge what masks leave out."""
        lacking = unread_unknown(self.name, results, self.seen_share)
        if lacking is not None:
            return lacking
        for place in results.get(MaskedWork).found:
            loop = _loop(results, place.masked_at)
            if self._counts(place) and not _may_end(place, loop):
                found = self._found(results, place, loop if place.lasting else None)
                if found is not None:
                    return found
        return None

    def _counts(self, place: MaskedPlace) -> bool:
        return (
            place.ran >= self.fewest_runs
            and place.empty >= max(self.empty_share * place.ran, 1)
            and place.heavy_share >= self.heavy_share
        )

    def _found(self, results: Results, place: MaskedPlace, loop: DecidingLoop | None) -> Finding | None:
        likely = _likely(place)
        # in an iteration in which nothing is taken
        part = min(place.wasted_ns / max(place.rows_ns, 1) * place.ran / place.empty, 1.0)
        of_time = place.rows_ns / max(results.get(MaskedWork).time_ns, 1)
        share = likely.central * part * of_time
        if share < self.work_share:
            return None
        lines = (place.masked_at, *place.places[:_MOST_PLACES])
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share, self.low_share),
            title=_title(results, place),
            explanation=_explained(results, place, part * of_time),
            evidence={
                "masked_share": round(share, 4),
                "looked_at_runs": place.ran,
                "empty_runs": place.empty,
                "mask_elements": place.elements,
                "operators": len(place.rows),
            },
            where=Where(lines=cell_lines(results, lines)),
            change=_change(results, place, loop),
            diff=_diff(results, loop),
        )
        among = np.ones(results.get(UnreadWork).operators, bool)
        worth = valued(results, finding, share, [place.rows], among, part=likely.central * part)
        return likely.ranged(worth, _RANGE if place.lasting else "")


_MOST_PLACES = 3
# standard deviations to both sides
_WIDE = 1.3


@dataclass(frozen=True)
class _Likely:
    """The share of all iterations in which nothing is taken, 0..1."""

    low: float
    central: float
    high: float

    def ranged(self, found: Finding, words: str) -> Finding:
        """With a saving as uncertain as that share."""
        saving = found.saving
        if saving is None or not self.central:
            return found
        low, high = saving.low_ns * self.low / self.central, saving.high_ns * self.high / self.central
        high = max(min(high, saving.central_ns / self.central), saving.central_ns)
        return replace(found, saving=replace(saving, low_ns=low, high_ns=high, basis=f"{saving.basis}{words}"))


_RANGE = "; one look says little of how often that is so"


def _likely(place: MaskedPlace) -> _Likely:
    """By the rule of succession. What a look saw of a loop is one observation, as its iterations follow each other; of
    a branch each iteration is one."""
    if place.lasting:
        yes, count = sum(each.empty / max(each.ran, 1) for each in place.turns), len(place.turns)
    else:
        yes, count = float(place.empty), place.ran
    mean = (1 + yes) / (2 + count)
    spread = _WIDE * sqrt(mean * (1 - mean) / (3 + count))
    return _Likely(max(mean - spread, 0.0), mean, min(mean + spread, 1.0))


def _loop(results: Results, place: int) -> DecidingLoop | None:
    line, cell = results.get(LookedLines).line(place), results.context.cell
    return deciding_loop(cell.source, line.line) if line is not None and line.in_cell and cell is not None else None


def _may_end(place: MaskedPlace, loop: DecidingLoop | None) -> bool:
    """Whether the loop is left early already."""
    return place.lasting and (place.tested or (loop is not None and loop.ends_early))


def _title(results: Results, place: MaskedPlace) -> str:
    where = at(results, place.masked_at)
    if place.lasting:
        return f"The loop goes on after every flag of the mask at {where} is decided"
    return f"A branch is computed, and the mask at {where} never takes it"


def _explained(results: Results, place: MaskedPlace, share: float) -> str:
    where, spent = at(results, place.masked_at), all_at(results, place.places[:_MOST_PLACES])
    seen = f"{place.empty} of {units.plural(place.ran, 'iteration')}"
    if place.lasting:
        return (
            f"In {seen} that were looked at, all {units.count(place.elements)} flags of the mask at {where} were "
            "already decided, and the loop never resets them. What it computes after that is thrown away: "
            f"{units.percent(share)} of the operators’ time in such an iteration, most at {spent}. How many of the "
            "other iterations are like that is not known."
        )
    return (
        f"In all {units.plural(place.ran, 'iteration')} that were looked at, the mask at {where} takes no element of "
        f"one of its two branches. {units.percent(share)} of the operators’ time computes that branch, most at {spent}."
    )


def _change(results: Results, place: MaskedPlace, loop: DecidingLoop | None) -> str:
    where = at(results, place.masked_at)
    waits = ""
    if results.get(DeviceActivity).primary is not None:
        waits = " Each test waits for the device: every eighth iteration is enough."
    if not place.lasting:
        return f"{_of_branch(place, where)}{waits}"
    test = "for instance `if done.all(): break`"
    if loop is not None and loop.flag:
        test = f"`if {loop.flag}.all(): break`" if loop.sets else f"`if not {loop.flag}.any(): break`"
    drawn = " The loop then draws fewer random numbers, so later random numbers change." if place.random else ""
    return (
        f"Leave the loop when all flags are decided: {test}. To keep the length of the results, fill them "
        f"with padding before the loop.{waits}{drawn}"
    )


def _of_branch(place: MaskedPlace, where: str) -> str:
    """The name gets a value either way."""
    if place.filled:
        state, text = "False", "x = xb if mask.all() else torch.where(mask, xb, …)"
    else:
        state, text = "True", "x = torch.where(mask, …, xb) if mask.any() else xb"
    return (
        f"Compute the branch only if the mask at {where} is {state} somewhere, in place of `…`: `{text}`. `xb` is the "
        "other branch, expanded to the shape of the result."
    )


def _diff(results: Results, loop: DecidingLoop | None) -> str | None:
    if loop is None or loop.flag is None:
        return None
    flag = loop.flag
    return cell_diff(results, lambda source: _edit(source, loop.line, flag, loop.sets))


def _edit(source: str, line: int, flag: str, sets: bool) -> str | None:
    from gpuprof.code_edits.loops.early_end import end_when_decided

    return end_when_decided(source, line, flag, sets=sets)
