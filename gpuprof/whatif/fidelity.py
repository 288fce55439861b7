"""How well a graph accounts for the run it was made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import EdgeKind, Edges, NodeKind
from gpuprof.whatif.graph.unexplained import unexplained
from gpuprof.whatif.retime import retime

# A synchronising call that waits for nothing takes some µs.
MOST_OF_ITS_OWN_NS = 100_000


@dataclass(frozen=True)
class Fidelity:
    """Replay and record compared. Errors are signed, replayed ÷ recorded − 1.

    `span_error`: of the whole graph, `span_ns` long; `step_errors`: of each whole step.
    `idle_ns`: time in which a device had nothing to do, up to its last operation; `unexplained_ns`: the part of it in
    which the operation that ends it could have begun, as far as the graph knows.
    `late_ns`: by how much operations began later than explained, added over all streams, idle device or not;
    `inferred_ns`: how much more that would be without the inferred waits.
    `step_spread`: how far a step's recorded time is at most from the median of the others; None under two steps.
    `unexplained_wait_ns`: what synchronising calls took without an operation that they waited for.
    `waits_recorded`: whether calls that wait are in the trace, as they are in every recording of ours: there none of
    them means that nothing waited; `sync_events`: whether cuda_sync events are.
    `unlaunched_share`: operations without a known launch, 0..1. `operations` and `calls` count what the graph holds.
    """

    span_error: float
    span_ns: int
    step_errors: tuple[float, ...]
    idle_ns: int
    unexplained_ns: int
    late_ns: int
    inferred_ns: int
    step_spread: float | None
    unexplained_wait_ns: int
    waits_recorded: bool
    sync_events: bool
    unlaunched_share: float
    operations: int
    calls: int

    @property
    def error(self) -> float:
        """The worst step's error (of the whole where no step is known), >= 0."""
        return max(abs(error) for error in self.step_errors or (self.span_error,))

    @property
    def unexplained_share(self) -> float:
        """Of the device's idle time, 0..1; 0 where it was never idle."""
        return self.unexplained_ns / self.idle_ns if self.idle_ns else 0.0


def fidelity(trace: Trace, graph: Graph) -> Fidelity:
    """Replay the graph of the trace and compare."""
    ends = retime(graph)
    recorded = graph.recorded_span_ns
    idle, unexplained_idle = _idle(trace, graph)
    late = _late(graph, graph.edges)
    certain = graph.edges.take(graph.edges.kind != EdgeKind.INFERRED_WAIT)
    operations = int((graph.event_node >= 0).sum())
    launched = len(np.unique(graph.edges.dst[graph.edges.kind == EdgeKind.LAUNCH]))
    kinds = trace.calls["kind"]
    return Fidelity(
        span_error=int(ends.max()) / recorded - 1 if recorded else 0.0,
        step_errors=_step_errors(trace, graph, ends),
        idle_ns=idle,
        unexplained_ns=unexplained_idle,
        late_ns=late,
        inferred_ns=_late(graph, certain) - late,
        span_ns=recorded,
        step_spread=_step_spread(trace.steps["duration_ns"]),
        unexplained_wait_ns=_unexplained_waits(trace, graph),
        waits_recorded=trace.context.window is not None or bool((kinds == CallKind.SYNCHRONIZE).any()),
        sync_events=len(trace.syncs) > 0,
        unlaunched_share=1 - launched / operations if operations else 0.0,
        operations=operations,
        calls=int((graph.call_node >= 0).sum()),
    )


def replayed(graph: Graph, ends: Array, times_ns: Array) -> Array:
    """When the main thread's chain reaches what it was doing at `times_ns` (of the trace), if nodes end at `ends`.

    Float ns from the origin, of the shape of `times_ns`; NaN where no host chain is known.
    """
    chain = np.flatnonzero(graph.nodes.chain == graph.host_chain)
    if not len(chain):
        return np.full(np.shape(times_ns), np.nan)
    reached: Array = np.interp(times_ns - graph.origin_ns, graph.nodes.recorded_ns[chain], ends[chain])
    return reached


def _step_errors(trace: Trace, graph: Graph, ends: Array) -> tuple[float, ...]:
    begin = trace.steps["start_ns"]
    end = begin + trace.steps["duration_ns"]
    if graph.host_chain < 0:
        return ()
    last = graph.origin_ns + int(graph.nodes.recorded_ns[graph.nodes.chain == graph.host_chain].max())
    whole = (begin >= graph.origin_ns) & (end <= last) & (end > begin)
    begin, end = begin[whole], end[whole]
    errors = (replayed(graph, ends, end) - replayed(graph, ends, begin)) / np.maximum(end - begin, 1) - 1
    return tuple(float(error) for error in errors)


def _step_spread(durations: Array) -> float | None:
    if len(durations) < 2:
        return None
    others = [float(np.median(np.delete(durations, at))) for at in range(len(durations))]
    return max(abs(float(own) / max(other, 1) - 1) for own, other in zip(durations, others, strict=True))


def _unexplained_waits(trace: Trace, graph: Graph) -> int:
    calls = np.flatnonzero((trace.calls["kind"] == CallKind.SYNCHRONIZE) & (graph.call_node >= 0))
    own = graph.duration_ns[graph.call_node[calls]]
    return int(own[own > MOST_OF_ITS_OWN_NS].sum())


def _late(graph: Graph, edges: Edges) -> int:
    late = unexplained(graph.nodes, edges, graph.duration_ns)
    return int(late[graph.select(NodeKind.STREAM_GAP)].sum())


def _idle(trace: Trace, graph: Graph) -> tuple[int, int]:
    """Idle and unexplained idle time, added over the devices."""
    gaps = graph.select(NodeKind.STREAM_GAP)
    begin, end = graph.nodes.recorded_ns[gaps], graph.nodes.recorded_ns[gaps + 1]
    device, late = trace.device_events["device"][graph.nodes.row[gaps]], graph.unexplained_ns[gaps]
    total, never = 0, 0
    for each in np.unique(device):
        own = device == each
        idle = intervals.complement(intervals.union(Intervals(begin[own], end[own])), 0, int(end[own].max()))
        total += idle.total_ns
        could = intervals.union(Intervals(begin[own] - late[own], begin[own]))
        never += intervals.intersect(idle, could).total_ns
    return total, never
