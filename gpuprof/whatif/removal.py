"""What is saved with some of many calls gone, then more of them: one graph, simulated several times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, EdgeKind
from gpuprof.whatif.predict import Replay
from gpuprof.whatif.retime import span_ns

# An edge whose lag is as many times the run, backwards, holds nobody back.
_BEFORE_ALL = -4


def saved_ns(replay: Replay, rows: Array) -> float:
    """By how much the run gets shorter without these calls (rows of calls), in ns; as `changes.calls_gone`."""
    left = span_ns(_released(replay.graph, rows)) / replay.baseline_ns if replay.baseline_ns else 1.0
    return (1 - left) * replay.run_ns


def saved_by_number(replay: Replay, groups: Sequence[Array], numbers: Sequence[int]) -> list[float]:
    """What is saved without the first 1, 2, … (`numbers`) groups of calls, in ns."""
    return [saved_ns(replay, np.concatenate(groups[:number])) for number in numbers]


def _released(graph: Graph, rows: Array) -> Graph:
    """What `edits.remove` does to calls, with edges that no longer bind instead of none: the plan stays the same."""
    nodes = graph.call_node[rows]
    chosen = np.zeros(len(graph.nodes), bool)
    chosen[nodes[nodes >= 0]] = True
    edges = graph.edges
    waits = np.isin(edges.kind, (*HOST_WAITS, EdgeKind.QUEUE)) & chosen[edges.dst]
    never = _BEFORE_ALL * (graph.recorded_span_ns + 1)
    released = graph.with_lags(np.where(waits, never, edges.lag_ns))
    return released.with_durations(np.where(chosen, np.minimum(graph.duration_ns, 0), graph.duration_ns))
