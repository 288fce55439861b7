"""Work of a known length for lines whose cost is tested; no line of this file is followed."""

from __future__ import annotations

import time


def busy(milliseconds: float) -> int:
    """Keep the processor busy for so long; how long it was, ns."""
    start = time.perf_counter_ns()
    while time.perf_counter_ns() - start < milliseconds * 1e6:
        pass
    return time.perf_counter_ns() - start
