"""The host as fast as it is without the recording, where the length of a step without it is known.

Recording costs every operator and every call of the host some µs, so that a step takes longer than it would. What a
change saves is asked of the run as it is without the recording: the host's time in the steps is scaled until a step of
the graph is as much shorter as one was by the stopwatch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.step_time import StepTime
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import replayed
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.retime import retime

# Less is the spread of steps, not the recording's cost.
LEAST_SLOWDOWN = 1.03
# Records of operators and calls cost no more than three times what they record: below it something else has changed.
LEAST_HOST_FACTOR = 0.25
_HALVINGS = 12


@dataclass(frozen=True)
class Calibration:
    """`host_factor`: the host's time in steps without the recording over that with it, 0..1; waits for batches are as
    recorded. `recorded_step_ns` and `plain_step_ns`: the median step with and without the recording."""

    host_factor: float
    recorded_step_ns: float
    plain_step_ns: float

    @classmethod
    def of(cls, trace: Trace, graph: Graph, results: Results) -> Calibration | None:
        """None where the cost is not known or not to be seen, and where the host's time alone cannot account for it."""
        window = trace.context.window
        if window is None or not window.recorded_step_ns or not window.plain_step_ns:
            return None
        recorded, plain = window.recorded_step_ns, window.plain_step_ns
        steps = results.get(StepTime)
        if recorded < LEAST_SLOWDOWN * plain or not steps.count or graph.host_chain < 0:
            return None
        within = calibrated_time(results)
        chosen = trace.steps.take(np.flatnonzero(steps.steady))

        def length(factor: float) -> float:
            ends = retime(calibrated(graph, within, factor))
            begin = chosen["start_ns"]
            lasting = replayed(graph, ends, begin + chosen["duration_ns"]) - replayed(graph, ends, begin)
            return float(lasting.sum())

        wanted = length(1.0) * plain / recorded
        low, high = LEAST_HOST_FACTOR, 1.0
        if length(low) > wanted:
            return None
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if length(middle) <= wanted else (low, middle)
        return cls(low, recorded, plain)


def calibrated_time(results: Results) -> Intervals:
    """The time in which the recording slows the host: the steps, but for the waits for batches."""
    return intervals.subtract(results.get(StepTime).window, results.get(Phases).input)


def calibrated(graph: Graph, within: Intervals, host_factor: float) -> Graph:
    """The host's own time in the union `within` (ns of the trace) times `host_factor`, on all its threads."""
    graph = graph_edits.scale_host_time(graph, within, host_factor)
    others = graph.select(NodeKind.HOST_GAP, NodeKind.CALL)
    others = others[graph.nodes.chain[others] != graph.host_chain]
    inside = intervals.contains(within, graph.nodes.recorded_ns[others] + graph.origin_ns)
    return graph_edits.scale(graph, others[inside], host_factor) if inside.any() else graph
