"""What a part of the host's time launches."""

from __future__ import annotations

import numpy as np

from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace


def launched_in(trace: Trace, within: Intervals) -> Array:
    """The rows of `device_events` whose launch begins in the union `within` (ns of the trace), on any thread."""
    events, calls = trace.device_events, trace.calls
    launched = np.flatnonzero(events["call"] >= 0)
    return launched[intervals.contains(within, calls["start_ns"][events["call"][launched]])]
