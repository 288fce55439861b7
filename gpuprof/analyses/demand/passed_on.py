"""What a loop hands from one iteration to the next, and only to what a mask throws away.

The logits of the last iteration that was looked at, and the cache behind them, are there at its end. Whether they will
be needed is told by those of the iterations before: they were not, where all that came of them was masked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from gpuprof.analyses.demand.flow import HELD, Flow
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue
from gpuprof.analyses.demand.selections import Selection
from gpuprof.model.table import Table

# storages that turn out to be needed are taken back, and what they are made of with them
_MOST_ROUNDS = 6


class DecidedRun(NamedTuple):
    """Operators of one look, from `first` to before `end` (None: to the end of the look), in which masks leave out
    everything that they select from; `after`: the last one before them that did not, -1: none."""

    look: int
    after: int
    first: int
    end: int | None

    def has(self, row: int) -> bool:
        """Whether the operator is one of them."""
        return row > self.first and (self.end is None or row < self.end)


def without_masked(
    operators: Sequence[LookedOperator],
    values: Sequence[LookedValue],
    table: Table,
    selected: Mapping[int, Selection],
    runs: Sequence[DecidedRun],
) -> Flow:
    """What is needed where these operators do not take what their masks leave out."""
    unread = {row: each.unread for row, each in selected.items()}
    handed = _Handed(operators, values, table, selected, runs)
    storages = handed.candidates()
    for _ in range(_MOST_ROUNDS):
        flow = Flow(operators, values, unread=unread, passed_on=storages)
        needed = {each for each in storages if any(flow.need_of(value).elements for value in handed.before(each))}
        if not needed:
            return flow
        storages -= needed
    return Flow(operators, values, unread=unread)


class _Handed:
    def __init__(
        self,
        operators: Sequence[LookedOperator],
        values: Sequence[LookedValue],
        table: Table,
        selected: Mapping[int, Selection],
        runs: Sequence[DecidedRun],
    ):
        self._operators, self._values, self._selected, self._runs = operators, values, selected, runs
        self._look, places = table["look"].tolist(), table["place"].tolist()
        self._alike = defaultdict[Hashable, list[int]](list)
        self._roles = defaultdict[int, set[Hashable]](set)
        for number, value in enumerate(values):
            if value.made_by < 0:
                continue
            look, name = self._look[value.made_by], operators[value.made_by].name
            # the same line makes it in each iteration, or the same memory holds it
            for role in ((look, places[value.made_by], name, value.elements), (look, value.storage)):
                self._alike[role].append(number)
                self._roles[value.storage].add(role)
        # values are numbered as they come
        self._last = {value.storage: number for number, value in enumerate(values)}
        self._from_before = {value.storage for value in values if value.made_by < 0}
        self._read_by = defaultdict[int, list[int]](list)
        for row, operator in enumerate(operators):
            for taken in operator.reads:
                self._read_by[taken.value].append(row)

    def candidates(self) -> set[int]:
        """Storages that are there at the end of the look, or were there before it, and the like of which something
        reads that leads to what masks leave out."""
        ahead = self._ahead()
        leading = {role for role, alike in self._alike.items() if any(self._leads(each, ahead) for each in alike)}
        return {
            storage
            for storage, last in self._last.items()
            if self._may_be_handed(storage, last) and self._roles[storage] & leading and self._is_replaced(storage)
        }

    def before(self, storage: int) -> set[int]:
        """The values before the last one of the storage, while masks leave everything out; where it has held no
        others, those like it in other storages."""
        run = self._run_of(storage)
        alike = {each for role in self._roles[storage] for each in self._alike[role]} - {self._last[storage]}
        found = {
            each
            for each in alike
            if run is not None and not self._values[each].kept and run.has(self._values[each].made_by)
        }
        return {each for each in found if self._values[each].storage == storage} or found

    def _may_be_handed(self, storage: int, last: int) -> bool:
        value, run = self._values[last], self._run_of(storage)
        if run is None or value.kind in HELD or value.read_outside:
            return False
        # of what was freed before it is known who read it, but where it is older than the look
        return run.end is None if value.kept else storage in self._from_before

    def _run_of(self, storage: int) -> DecidedRun | None:
        made_by = self._values[self._last[storage]].made_by
        if made_by < 0:
            return None
        look = self._look[made_by]
        return next((run for run in self._runs if run.look == look and run.has(made_by)), None)

    def _is_replaced(self, storage: int) -> bool:
        """Whether each new one takes the place of one before; a list keeps all of them."""
        before = self.before(storage)
        if any(self._values[each].storage == storage for each in before):
            return True
        alike = {each for role in self._roles[storage] for each in self._alike[role]}
        return bool(before) and len(before) >= sum(self._values[each].kept for each in alike)

    def _leads(self, value: int, ahead: set[int]) -> bool:
        """Whether an operator makes something else of it, no view and not its next content, that masks leave out."""
        return any(
            self._values[made.value].made_by == row and self._values[made.value].storage != self._values[value].storage
            for row in self._read_by[value]
            if row in ahead
            for made in self._operators[row].results
            if made.value >= 0
        )

    def _ahead(self) -> set[int]:
        """Operators that lead to what a mask leaves out, or that leave it out."""
        found = set(self._selected)
        left = [self._operators[row].reads[at].value for row, each in self._selected.items() for at in each.unread]
        while left:
            value = left.pop()
            row = self._values[value].made_by if value >= 0 else -1
            if row >= 0 and row not in found:
                found.add(row)
                left += [each.value for each in self._operators[row].reads]
        return found
