"""Whether a cell spends its time on lines that no look has seen: in an evaluation, a generation, another loop."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from gpuprof.capture.look.places import LinePath

# where the main thread was found, about ten times a second
_LEAST_TICKS = 10
_LEAST_SHARE = 0.1
_MOST_TIMES = 6
_TIMES_KEPT = 8
_OFTEN = 4
# without steps: so many looks at most, and where nearly all of the time goes to such lines, one begins right there
_MOST_LOOKED_FOR, _NEARLY_ALL = 4, 0.9


class WorkElsewhere:
    """Counts on which lines the main thread is, and which of them a look has seen. A line is told apart by the lines
    that led there: a model that is called in a training step and in an evaluation is two."""

    def __init__(self) -> None:
        self._ticks: Counter[LinePath] = Counter()
        self._seen: set[LinePath] = set()
        self._times = self._looked_for = 0
        # after how many steps it was there, and how often it was found so, the last few times
        self._after: dict[LinePath, deque[list[int]]] = {}

    def note(self, path: LinePath, steps: int) -> bool:
        """The main thread is there, after so many steps. True where that is work that no look has seen and that takes a
        good part of the time."""
        self._ticks[path] += 1
        after = self._after.setdefault(path, deque(maxlen=_TIMES_KEPT))
        if not after or after[-1][0] != steps:
            after.append([steps, 0])
        after[-1][1] += 1
        return self.is_new(path) and self.waits

    @property
    def waits(self) -> bool:
        """Whether there is such work to be looked at."""
        return self._times < _MOST_TIMES and self._worth_it()

    def comes_next(self, path: LinePath) -> bool:
        """Whether such work is likely to begin soon, without steps: the main thread is elsewhere, or hardly ever is."""
        if self._looked_for > _MOST_LOOKED_FOR or not self.waits:
            return False
        return not self.is_new(path) or self._new_ticks() >= _NEARLY_ALL * self._ticks.total()

    def next_after(self, path: LinePath, steps: int) -> int | None:
        """After how many steps, more than so many, the main thread comes there again, where it comes every so many;
        None: not known."""
        # found once, it may have moved on before its steps were counted
        stayed = [step for step, times in self._after.get(path, ()) if times > 1]
        period = stayed[-1] - stayed[-2] if len(stayed) > 1 else 0
        if period <= 0:
            return None
        return stayed[-1] + period * max((steps - stayed[-1]) // period + 1, 1)

    def comes_often(self, path: LinePath) -> bool:
        """Whether the main thread was found there after many different numbers of steps."""
        return len(self._after.get(path, ())) >= _OFTEN

    def is_new(self, path: LinePath) -> bool:
        """Whether no look has seen the line, where it was reached that way."""
        return path not in self._seen

    def seen(self, paths: Iterable[LinePath]) -> None:
        """A look has seen these lines."""
        self._seen |= set(paths)

    def looked(self) -> None:
        """The work elsewhere was looked at: what it met no operators of has none."""
        self._seen |= set(self._ticks)
        self._times += 1

    def looked_for(self) -> None:
        """Without steps: a look has ended, which may not have come to such work."""
        self._looked_for += 1

    def _worth_it(self) -> bool:
        return self._new_ticks() >= max(_LEAST_TICKS, _LEAST_SHARE * self._ticks.total())

    def _new_ticks(self) -> int:
        return sum(count for path, count in self._ticks.items() if path not in self._seen)
