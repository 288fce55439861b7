"""What the rules about results that nobody reads share: how much there is of a kind, where, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.demand.unread_work import Unread, UnreadPlace, UnreadWork
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.needless.looked import cell_lines, line_words, without_look
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import share_of

_MOST_PLACES = 3
# of the operators’ time: lines with less are not named
_LEAST_SHARE = 0.005


@dataclass(frozen=True)
class Amount:
    """`places` of one kind, largest first. `share` of the operators' time in the look is for nothing there, `part` of
    the operators themselves; `backward_share`: what their backward passes take for it, besides."""

    places: tuple[UnreadPlace, ...]
    share: float
    part: float
    backward_share: float

    @property
    def lines(self) -> tuple[int, ...]:
        """Rows of the looked places: those that compute, and those that take a part."""
        named = [each for place in self.places[:_MOST_PLACES] for each in (place.place, place.taken_at)]
        return tuple(dict.fromkeys(each for each in named if each >= 0))


def amount(
    results: Results,
    kind: Unread,
    *,
    least_operators: int = 1,
    but: Callable[[UnreadPlace], bool] = lambda place: False,
) -> Amount | None:
    """How much of a kind there is at lines where it matters, `but` for some; None where there is none. With
    `least_operators` only where as many operators show it, and without what rests on likeness."""
    found = results.get(UnreadWork)
    places = tuple(
        place
        for place in found.places
        if place.kind is kind and place.place >= 0 and share_of(place.wasted_ns, found.time_ns) >= _LEAST_SHARE
        if least_operators <= 1 or (place.operators >= least_operators and place.wasted_ns == place.surely_ns)
        if not but(place)
    )
    if not places:
        return None
    wasted = sum(place.wasted_ns for place in places)
    return Amount(
        places,
        share_of(wasted, found.time_ns),
        share_of(wasted, sum(place.rows_ns for place in places)),
        share_of(sum(place.backward_ns for place in places), found.time_ns),
    )


def unread_unknown(rule: str, results: Results, seen_share: float) -> Abstention | None:
    """None where the look saw who reads what."""
    lacking = without_look(rule, results, seen_share)
    if lacking is not None:
        return lacking
    found = results.get(UnreadWork)
    if found.looked:
        return None
    return Abstention(
        rule,
        f"who reads the results: {found.reason}",
        "Profile a cell without compiled or foreign code to see it.",
    )


def all_for_nothing(results: Results, read_share: float) -> bool:
    """Whether next to nothing is read: then running is the point, as in a benchmark."""
    found = results.get(UnreadWork)
    return share_of(found.time_ns - found.wasted_ns, found.time_ns) < read_share


def weighed(results: Results, finding: Finding, found: Amount) -> Finding:
    """With its lines, and what it saves to leave that work out."""
    finding = Finding(**{**vars(finding), "where": Where(lines=cell_lines(results, found.lines))})
    rows = [np.array(place.rows, np.int64) for place in found.places]
    among = np.ones(results.get(UnreadWork).operators, bool)
    return valued(results, finding, found.share, rows, among, part=found.part)


def at(results: Results, place: int) -> str:
    """A row of the looked places in words: `line 12`."""
    return line_words(results.get(LookedLines).line(place))


def all_at(results: Results, places: Sequence[int]) -> str:
    """`line 3, line 5 and line 9`: each once, at most three."""
    words = list(dict.fromkeys(at(results, place) for place in places if place >= 0))[:_MOST_PLACES]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def evidence(results: Results, found: Amount) -> dict[str, float | int | str]:
    """The figures that every such finding has."""
    first, looked = found.places[0], results.get(UnreadWork)
    return {
        "unread_share": round(found.share, 4),
        "operator": first.operator,
        "operators": sum(place.operators for place in found.places),
        "elements_made": first.elements_made,
        "elements_read": first.elements_read,
        "looked_at_iterations": looked.iterations,
    }


def elements(place: UnreadPlace) -> str:
    """`192,000 of 7,680,000 elements (2.5%)`."""
    share = share_of(place.elements_read, place.elements_made)
    return f"{units.count(place.elements_read)} of {units.count(place.elements_made)} elements ({units.percent(share)})"
