"""Work whose results a mask throws away as a whole: of what it computes a selection takes no element."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.flow import Flow, Needed
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, operators_of, values_of
from gpuprof.analyses.demand.passed_on import DecidedRun, without_masked
from gpuprof.analyses.demand.selections import Selection, selections
from gpuprof.analyses.demand.unread_work import UnreadWork
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace


class LookedRuns(NamedTuple):
    """Of one look: how often the selection ran, and how often it took nothing."""

    ran: int
    empty: int


@dataclass(frozen=True, eq=False)
class MaskedPlace:
    """What one selection leaves out. `masked_at` is its line, `places` those that compute what it leaves out, most time
    first: rows of the looked places. `turns`: by look. `elements`: of the mask.

    `lasting`: from some iteration on it takes nothing to the end of the loop, since its mask stays as it is; `tested`:
    and the program tests that mask. Else it took nothing each time. `rows` of looked_operators compute it, in all
    iterations, and take `rows_ns`; `wasted_ns` of them where nothing was taken. `heavy_share` of that time is of
    operators that do more than one operation for each element. `filled`: the mask was True everywhere where it took
    nothing, so that what it leaves out is for positions that are False; else it was False everywhere.
    """

    masked_at: int
    places: tuple[int, ...]
    turns: tuple[LookedRuns, ...]
    elements: int
    lasting: bool
    tested: bool
    random: bool
    rows: Array
    rows_ns: int
    wasted_ns: int
    heavy_share: float
    filled: bool = False

    @property
    def ran(self) -> int:
        """How often the selection ran."""
        return sum(each.ran for each in self.turns)

    @property
    def empty(self) -> int:
        """How often it took nothing."""
        return sum(each.empty for each in self.turns)


@dataclass(frozen=True, eq=False)
class MaskedWork(Result):
    """`found`: most time for nothing first. `time_ns` of all operators. Empty where reads are not known."""

    found: tuple[MaskedPlace, ...]
    time_ns: int = 0

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """What is needed with all that is read, less what is needed where selections take nothing."""
        if not results.get(UnreadWork).looked:
            return cls(())
        operators, values = operators_of(trace), values_of(trace)
        selected = selections(operators, values)
        if not selected:
            return cls(())
        table = weighed_operators(trace, results)
        walk = _MaskedRows(operators, values, table, selected)
        found = sorted((*walk.loops(), *walk.branches()), key=lambda each: -each.wasted_ns)
        return cls(tuple(each for each in found if each.wasted_ns), int(table["duration_ns"].sum()))


_Site = tuple[int, str, int, int]
"""The line, the operator, the number of elements that it makes, and its arguments that are no tensors."""


class _MaskedRows:
    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        table: Table,
        selected: Mapping[int, Selection],
    ):
        self._operators, self._values, self._table, self._selected = operators, values, table, selected
        self._place, self._look = table["place"].tolist(), table["look"].tolist()
        self._arguments = table["arguments"].tolist()
        self._lasted_ns = table["duration_ns"]
        self._ran = defaultdict[_Site, list[int]](list)
        # sizes may grow from one iteration to the next
        self._alike = defaultdict[tuple[int, str], list[int]](list)
        for row, operator in enumerate(operators):
            self._ran[self._site(row)].append(row)
            self._alike[self._place[row], operator.name].append(row)
        self._all = Flow(operators, values).needed
        self._done = set[int]()

    def loops(self) -> list[MaskedPlace]:
        """By masks that stay as they are."""
        lasting = {row: each for row, each in self._selected.items() if each.lasting and self._place[row] >= 0}
        if not lasting:
            return []
        runs = self._runs(lasting)
        left = without_masked(self._operators, self._values, self._table, lasting, runs).needed
        rows, during = np.arange(len(left)), np.zeros(len(left), bool)
        for run in runs:
            end = len(rows) if run.end is None else run.end
            during |= (self._table["look"] == run.look) & (rows > run.after) & (rows < end)
        return self._found(lasting, left, during, lasting_masks=True)

    def branches(self) -> list[MaskedPlace]:
        """By other masks, that take nothing of the same argument each time."""
        by_site = defaultdict[tuple[_Site, tuple[int, ...]], list[int]](list)
        for row, each in self._selected.items():
            if not each.lasting and self._place[row] >= 0:
                by_site[self._site(row), each.unread].append(row)
        always = {
            row: self._selected[row]
            for (site, _), rows in by_site.items()
            if len(rows) == len(self._ran[site])
            for row in rows
        }
        if not always:
            return []
        unread = {row: each.unread for row, each in always.items()}
        left = Flow(self._operators, self._values, unread=unread).needed
        return self._found(always, left, np.ones(len(left), bool), lasting_masks=False)

    def _runs(self, lasting: Mapping[int, Selection]) -> list[DecidedRun]:
        """From where all runs of these selections take nothing to the next one that takes something."""
        by_look = defaultdict[int, list[int]](list)
        for site in {self._site(row) for row in lasting}:
            for row in self._ran[site]:
                by_look[self._look[row]].append(row)
        found = []
        for look, rows in by_look.items():
            first, after = None, self._look.index(look) - 1
            for row in sorted(rows):
                if row in lasting:
                    first = row if first is None else first
                    continue
                if first is not None:
                    found.append(DecidedRun(look, after, first, row))
                first, after = None, row
            if first is not None:
                found.append(DecidedRun(look, after, first, None))
        return found

    def _found(
        self, chosen: Mapping[int, Selection], left: Sequence[Needed], during: Array, *, lasting_masks: bool
    ) -> list[MaskedPlace]:
        more = [max(every.share - rest.share, 0.0) for every, rest in zip(self._all, left, strict=True)]
        wasted_ns = self._lasted_ns * np.array(more) * during
        by_site = defaultdict[_Site, list[int]](list)
        for row in chosen:
            by_site[self._site(row)].append(row)
        # what comes first leads to what comes later
        reached = {site: self._upstream(rows, chosen, wasted_ns) for site, rows in by_site.items()}
        found = []
        for site in sorted(reached, key=lambda each: -sum(float(wasted_ns[row]) for row in reached[each])):
            kinds = {(self._place[row], self._operators[row].name) for row in reached[site]}
            rows = {row for kind in kinds for row in self._alike[kind]} - self._done
            self._done |= rows
            wasted = {row for row in rows if wasted_ns[row]}
            if wasted:
                found.append(self._masked(site, chosen, sorted(rows), sorted(wasted), wasted_ns, lasting_masks))
        return found

    def _upstream(self, rows: Sequence[int], chosen: Mapping[int, Selection], wasted_ns: Array) -> set[int]:
        """The operators for nothing that lead to what these selections leave out."""
        left = [self._operators[row].reads[at].value for row in rows for at in chosen[row].unread]
        found = set[int]()
        while left:
            value = left.pop()
            row = self._values[value].made_by if value >= 0 else -1
            if row >= 0 and row not in found and wasted_ns[row]:
                found.add(row)
                left += [each.value for each in self._operators[row].reads]
        return found

    def _masked(
        self,
        site: _Site,
        chosen: Mapping[int, Selection],
        rows: Sequence[int],
        wasted: Sequence[int],
        wasted_ns: Array,
        lasting_masks: bool,
    ) -> MaskedPlace:
        here = [row for row in self._ran[site] if row in chosen]
        spent = defaultdict[int, float](float)
        for row in wasted:
            spent[self._place[row]] += float(wasted_ns[row])
        total = sum(spent.values())
        heavy = sum(float(wasted_ns[row]) for row in wasted if _is_heavy(self._operators[row].name))
        looks = sorted({self._look[row] for row in self._ran[site]})
        number = np.array(rows, np.int64)
        return MaskedPlace(
            masked_at=site[0],
            places=tuple(each for each in sorted(spent, key=lambda each: -spent[each]) if each >= 0),
            turns=tuple(
                LookedRuns(*(sum(self._look[row] == look for row in of) for of in (self._ran[site], here)))
                for look in looks
            ),
            elements=self._values[chosen[here[0]].mask].elements,
            lasting=lasting_masks,
            tested=any(chosen[row].tested for row in here),
            random=bool(self._table["random"][np.array(wasted, np.int64)].any()),
            rows=number,
            rows_ns=int(self._lasted_ns[number].sum()),
            wasted_ns=round(total),
            heavy_share=heavy / total if total else 0.0,
            filled=all(self._values[chosen[row].mask].zeros_share == 0 for row in here),
        )

    def _site(self, row: int) -> _Site:
        made = self._operators[row].results
        return self._place[row], self._operators[row].name, made[0].elements if made else 0, self._arguments[row]


def _is_heavy(name: str) -> bool:
    return names.plain(name) not in names.ELEMENTWISE and not names.makes(name)
