"""Marks in the trace whose system time is known: do the profiler's clock and the system's agree?"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from gpuprof.model.recording import CLOCK_MARK

_TOLERANCE_NS = 1_000_000


@dataclass
class ClockMarks:
    """Each mark is an empty user range `gpuprof.clock`, with the system time just before and just after."""

    brackets_ns: list[tuple[int, int]] = field(default_factory=list)
    drift_ns: list[int] = field(default_factory=list)

    def mark(self) -> None:
        """Put one mark into the running recording."""
        from torch.autograd.profiler import record_function

        before = time.time_ns()
        with record_function(CLOCK_MARK):
            pass
        self.brackets_ns.append((before, time.time_ns()))
        self.drift_ns.append(time.time_ns() - time.perf_counter_ns())

    def check(self, seen_ns: list[int]) -> tuple[int | None, str | None]:
        """`seen_ns` are the marks' starts as the trace gives them, in Unix ns, in order.

        Returns by how many ns the trace is ahead of the system (0 inside the bracket; the largest of the marks; None
        where no mark was seen), and a sentence where the clocks disagree by more than a millisecond.
        """
        worst = min((_worst(seen_ns, each) for each in self._told(len(seen_ns))), key=abs, default=None)
        if worst is not None and abs(worst) > _TOLERANCE_NS:
            return worst, (
                f"the profiler's clock and the system's disagree by {worst / 1e6:.1f} ms: "
                "device and host samples are shifted against the timeline by as much"
            )
        if self.drift_ns and abs(self.drift_ns[-1] - self.drift_ns[0]) > _TOLERANCE_NS:
            step = (self.drift_ns[-1] - self.drift_ns[0]) / 1e6
            return (
                worst,
                f"the system's clock was set by {step:.1f} ms during the run: samples may be shifted by as much",
            )
        return worst, None

    def _told(self, count: int) -> Iterable[Sequence[tuple[int, int]]]:
        """The brackets of that many marks, in order. Which ones is not known: one that is made between two bytecodes,
        where torch records nothing, is not in the trace, nor are those of a recording that began anew."""
        return combinations(self.brackets_ns, min(count, len(self.brackets_ns))) if count else ()


def _worst(seen_ns: Sequence[int], brackets_ns: Sequence[tuple[int, int]]) -> int:
    offsets = (_outside(seen, *bracket) for seen, bracket in zip(seen_ns, brackets_ns, strict=False))
    return max(offsets, key=abs, default=0)


def _outside(seen: int, before: int, after: int) -> int:
    return min(0, seen - before) or max(0, seen - after)
