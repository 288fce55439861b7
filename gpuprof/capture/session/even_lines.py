"""Whether a cell without steps goes round: the same lines of the user's code run again and again.

Where its tensors come and go, the heap does not tell how many events there are; its lines still show that the work is
even. And once other lines run instead, the recording shows what is over.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from gpuprof.units import NS_PER_S

# how long it has to be even: long enough for loops of slow iterations too
_WINDOWS_NS = (3 * NS_PER_S, 6 * NS_PER_S, 12 * NS_PER_S)
_PARTS = 4
_LEAST_LOOKS = 3  # in each part
# of the looks in each part, at lines that are in most of the parts
_LEAST_SHARE = 0.6
_MOST_PARTS = 3
# of the last looks, at lines that were not recorded
_ELSEWHERE_SHARE = 0.8
_ELSEWHERE_LOOKS = 30
_MOST_LOOKS = 256


@dataclass(frozen=True)
class _Look:
    at_ns: int
    place: int
    heap_bytes: int


class EvenLines:
    """Notes, about ten times a second, at which line the cell is. A place is a number, negative where it is unknown."""

    def __init__(self) -> None:
        self._looks: deque[_Look] = deque(maxlen=_MOST_LOOKS)
        self._recorded: set[int] = set()

    def begin(self) -> None:
        """A recording begins."""
        self._looks.clear()
        self._recorded.clear()

    def note(self, now_ns: int, place: int, heap_bytes: int) -> None:
        """Note it, while the recording runs."""
        self._recorded.add(place)
        self._looks.append(_Look(now_ns, place, heap_bytes))

    def even(self) -> bool:
        """Whether the last seconds up to the latest look were even: mostly the same lines in each quarter of them, and
        memory in use that changed in each. One long call changes nothing. It goes through all looks three times."""
        return bool(self._looks) and any(self._even(self._looks[-1].at_ns, window_ns) for window_ns in _WINDOWS_NS)

    def elsewhere(self, now_ns: int, place: int) -> bool:
        """Note it, after the recording; True where the cell has been at lines that were not recorded for a while."""
        self._looks.append(_Look(now_ns, place, 0))
        last = list(self._looks)[-_ELSEWHERE_LOOKS:]
        new = sum(look.place >= 0 and look.place not in self._recorded for look in last)
        return len(last) == _ELSEWHERE_LOOKS and new >= _ELSEWHERE_SHARE * _ELSEWHERE_LOOKS

    def _even(self, now_ns: int, window_ns: int) -> bool:
        if self._looks[0].at_ns > now_ns - window_ns:
            return False
        parts: list[list[_Look]] = [[] for _ in range(_PARTS)]
        for look in self._looks:
            number = (look.at_ns - now_ns + window_ns) * _PARTS // window_ns
            if number >= 0:
                parts[min(number, _PARTS - 1)].append(look)
        common = Counter(place for part in parts for place in {look.place for look in part} if place >= 0)
        return all(self._even_part(part, common) for part in parts)

    @staticmethod
    def _even_part(part: list[_Look], common: Counter[int]) -> bool:
        if len(part) < _LEAST_LOOKS or len({look.heap_bytes for look in part}) < 2:
            return False
        return sum(common[look.place] >= _MOST_PARTS for look in part) >= _LEAST_SHARE * len(part)
