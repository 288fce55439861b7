"""The stopwatches that a program calls by itself: at its steps, and around its loader."""

from __future__ import annotations

import itertools
import time
from array import array
from collections.abc import Iterable, Iterator
from typing import Any

_NS_PER_S = 1e9


class Stopwatch:
    """When each iteration ended, by the clock and in processor time; how long it waited, and stepped optimizers."""

    def __init__(self) -> None:
        self._ends_ns, self._cpu_ns = array("q"), array("q")
        self._waits_ns, self._steps_ns = array("q"), array("q")
        self._waited_ns = self._stepped_ns = self._began_ns = 0

    def step_begins(self) -> None:
        """An optimizer is about to step."""
        self._began_ns = time.perf_counter_ns()

    def step_ends(self, ends_iteration: bool) -> None:
        """It has; whether that ends an iteration."""
        now = time.perf_counter_ns()
        self._stepped_ns += now - self._began_ns
        if ends_iteration:
            self._ends_ns.append(now)
            self._cpu_ns.append(time.process_time_ns())
            self._waits_ns.append(self._waited_ns)
            self._steps_ns.append(self._stepped_ns)
            self._waited_ns = self._stepped_ns = 0

    def timed(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches, each waited for by the clock."""
        iterator = iter(batches)
        while True:
            began = time.perf_counter_ns()
            try:
                batch = next(iterator)
            except StopIteration:
                return
            self._waited_ns += time.perf_counter_ns() - began
            yield batch

    def to_dict(self) -> dict[str, list[float]]:
        """Of iterations 1 and later, in seconds: the beginning of the first is not known."""
        return {
            "wall_s": _differences(self._ends_ns),
            "cpu_s": _differences(self._cpu_ns),
            "wait_s": [each / _NS_PER_S for each in self._waits_ns[1:]],
            "optimizer_s": [each / _NS_PER_S for each in self._steps_ns[1:]],
        }


def _differences(ends: array[int]) -> list[float]:
    return [(after - before) / _NS_PER_S for before, after in itertools.pairwise(ends)]
