"""What has been counted already: each byte counts for the first name that holds it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from gpuprof.capture.base.storages import Key

_LARGE_BYTES = 1 << 20


class ClaimedMemory:
    """Storages by their `keys`. Large ones on the host count by address as well: `torch.from_numpy(x[100:])` makes a
    storage inside of the memory of `x`."""

    def __init__(self) -> None:
        self.keys: set[Key] = set()
        # of ranges that do not touch, ascending
        self._begins: list[int] = []
        self._ends: list[int] = []

    def fresh(self, storages: list[tuple[Key, int]]) -> list[tuple[Key, int]]:
        """Those that nothing had yet, with the bytes that are new of each; from now on they are claimed."""
        found = []
        for key, size in storages:
            if key[0].type == "cpu" and size >= _LARGE_BYTES:
                size = self._new_bytes(key[1], key[1] + size)
            elif key in self.keys:
                continue
            self.keys.add(key)
            if size:
                found.append((key, size))
        return found

    def _new_bytes(self, begin: int, end: int) -> int:
        """Of a range; it is added to the ranges."""
        first, last = bisect_left(self._ends, begin), bisect_right(self._begins, end)
        known = zip(self._begins[first:last], self._ends[first:last], strict=True)
        overlap = sum(max(min(end, to) - max(begin, at), 0) for at, to in known)
        if first < last:
            self._begins[first:last] = [min(begin, self._begins[first])]
            self._ends[first:last] = [max(end, self._ends[last - 1])]
        else:
            self._begins.insert(first, begin)
            self._ends.insert(first, end)
        return end - begin - overlap
