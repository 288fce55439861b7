"""Which threads of the host are chains of the graph, and what their calls are."""

from __future__ import annotations

import numpy as np

from gpuprof.whatif.graph.host import host_chains, outer_calls
from tests.support.trace_builder import TraceBuilder


def test_calls_of_threads_that_launch_nothing_are_of_no_chain() -> None:
    builder = TraceBuilder().thread("main").kernel("a", 20, 5, launch_at_us=10).call("cudaLaunchKernel", 30, 10)
    builder.call("cuLaunchKernel", 32, 5).thread("watchdog").call("cudaEventQuery", 12, 3)
    trace = builder.build()
    chains = host_chains(trace, np.ones(len(trace.calls), bool))
    names = trace.names_of(trace.calls).tolist()
    outer = dict(zip(names, outer_calls(trace, chains).tolist(), strict=True))
    assert len(chains) == 1
    assert outer["cudaEventQuery"] == -1
    # the driver's call is within the runtime's
    assert outer["cuLaunchKernel"] == max(row for row, name in enumerate(names) if name == "cudaLaunchKernel")
