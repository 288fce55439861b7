"""Marks in the trace whose system time is known: do the profiler's clock and the system's agree?"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

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
        offsets = [
            _outside(seen, before, after)
            for seen, (before, after) in zip(seen_ns, self.brackets_ns[-len(seen_ns) :], strict=False)
        ]
        worst = max(offsets, key=abs, default=None)
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


def _outside(seen: int, before: int, after: int) -> int:
    return min(0, seen - before) or max(0, seen - after)
