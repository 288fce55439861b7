"""Whether a cell with steps spends its time elsewhere: in an evaluation, a generation, a simulation between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gpuprof.model.look import LookedPlace

_Line = tuple[str, int]
# where the main thread was found, about ten times a second
_LEAST_TICKS = 15
_LEAST_SHARE = 0.25
_MOST_TIMES = 3


class WorkElsewhere:
    """Counts at which lines the main thread is, and which of them a look has seen."""

    def __init__(self) -> None:
        self._ticks: Counter[_Line] = Counter()
        self._seen: set[_Line] = set()
        self._times = 0

    def note(self, place: LookedPlace) -> bool:
        """The main thread is there. True where that is work that no look has seen and that takes a good part of the
        time."""
        self._ticks[place.file, place.line] += 1
        return self.is_new(place) and self._times < _MOST_TIMES and self._worth_it()

    def is_new(self, place: LookedPlace) -> bool:
        """Whether no look has seen the line."""
        return (place.file, place.line) not in self._seen

    def seen(self, places: Iterable[LookedPlace]) -> None:
        """A look has seen these lines."""
        self._seen |= {(each.file, each.line) for each in places}

    def looked(self) -> None:
        """The work elsewhere was looked at: what it met no operators of has none."""
        self._seen |= set(self._ticks)
        self._times += 1

    def _worth_it(self) -> bool:
        new = sum(count for line, count in self._ticks.items() if line not in self._seen)
        return new >= max(_LEAST_TICKS, _LEAST_SHARE * self._ticks.total())
