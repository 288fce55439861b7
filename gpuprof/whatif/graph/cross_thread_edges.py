"""Edges between host chains: one thread that stood still while another worked, and went on when that was done."""

from __future__ import annotations

import numpy as np

from gpuprof.model.table import Array
from gpuprof.whatif.graph.layout import Layout
from gpuprof.whatif.graph.nodes import EdgeKind, Edges

# A pause of a thread this long, which the other's calls fill to this share, is a wait for the other.
LEAST_PAUSE_NS = 50_000
LEAST_FILLED_SHARE = 0.8


def cross_thread_edges(layout: Layout) -> tuple[Edges, Array, Array]:
    """The edges, the host gaps that they replace (nodes), and what those gaps last without the wait (int64 ns)."""
    src, dst, lag = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for waiting in layout.chains:
        for working in layout.chains:
            if waiting is working:
                continue
            pauses = np.flatnonzero(waiting.begins[1:] - waiting.ends[:-1] >= LEAST_PAUSE_NS) + 1
            begin, end = waiting.ends[pauses - 1], waiting.begins[pauses]
            first = np.searchsorted(working.begins, begin, side="left")
            last = np.searchsorted(working.ends, end, side="left") - 1
            held = last >= first
            pauses, first, last, begin, end = (each[held] for each in (pauses, first, last, begin, end))
            filled = working.ends[last] - working.begins[first] >= LEAST_FILLED_SHARE * (end - begin)
            src.append(layout.call_node[working.calls[last[filled]]])
            dst.append(layout.call_node[waiting.calls[pauses[filled]]] - 1)
            lag.append((end - working.ends[last])[filled])
    edges = Edges.of(np.concatenate(src), np.concatenate(dst), np.concatenate(lag), EdgeKind.HAND_OFF)
    return edges, edges.dst, edges.lag_ns
