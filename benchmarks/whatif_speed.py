"""Time to build the dependency graph of a trace and to re-time it, in ms: the best of several runs.

    python benchmarks/whatif_speed.py [TRACE] [RUNS]

Without TRACE the largest public recording is read (`make traces`). Beside the trace itself the same run repeated end to
end is measured, until calls and device operations alone are 200,000. `first` re-timing orders the edges too; an edit
that only changes durations needs only the `next`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.ingest.load import load_trace
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes import graph_edits
from gpuprof.whatif.fidelity import fidelity
from gpuprof.whatif.graph.build import build
from gpuprof.whatif.graph.nodes import NodeKind
from gpuprof.whatif.predict import Replay, predict
from gpuprof.whatif.retime import retime

RECORDINGS = Path(__file__).resolve().parents[1] / "tests" / "recordings" / "traces"
LARGEST = RECORDINGS / "gpu" / "v100-ddp-memory-nccl.json.gz"
EVENTS = 200_000


def repeated(trace: Trace, times: int) -> Trace:
    """The run `times` over, one after the other."""
    tables = {name: _repeated(trace, name, times) for name in ("operators", "calls", "device_events", "syncs", "steps")}
    return replace(
        trace, tables={**trace.tables, **tables}, span_end_ns=trace.span_start_ns + times * (trace.span_ns + 1)
    )


def _repeated(trace: Trace, name: str, times: int) -> Table:
    table = trace.tables[name]
    at = np.repeat(np.arange(times), len(table))
    columns = {column.name: np.tile(table[column.name], times) for column in table.schema.columns}
    columns["start_ns"] = columns["start_ns"] + at * (trace.span_ns + 1)
    for column, other in (("call", "calls"), ("operator", "operators"), ("step", "steps")):
        if column in columns:
            columns[column] = np.where(columns[column] >= 0, columns[column] + at * len(trace.tables[other]), -1)
    if "correlation" in columns:
        columns["correlation"] = columns["correlation"] + at * 10**9
    return Table(table.schema, columns)


def best_ms(action: Callable[[], Any], runs: int) -> float:
    taken = []
    for _ in range(runs):
        start = time.perf_counter_ns()
        action()
        taken.append(time.perf_counter_ns() - start)
    return min(taken) / 1e6


def measure(trace: Trace, runs: int) -> None:
    graph = build(trace)
    operations = graph.select(NodeKind.DEVICE_OP)
    replay = Replay(graph, fidelity(trace, graph))
    rows = {
        "build": lambda: build(trace),
        "re-time, first": lambda: retime(graph.with_edges(graph.edges)),
        "re-time, next": lambda: retime(graph),
        "fidelity": lambda: fidelity(trace, graph),
        "predict": lambda: predict(replay, lambda each: graph_edits.scale(each, operations, 0.5)),
    }
    calls = int((graph.call_node >= 0).sum())
    print(
        f"{calls:,} calls, {len(operations):,} operations, {len(graph.nodes):,} nodes, {len(graph.edges.src):,} edges"
    )
    for name, action in rows.items():
        print(f"  {name:16} {best_ms(action, runs):8.1f} ms")


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    trace = load_trace(path)
    print(path.name)
    measure(trace, runs)
    times = math.ceil(EVENTS / (len(trace.calls) + len(trace.device_events)))
    print(f"the same {times} times over")
    measure(repeated(trace, times), runs)


if __name__ == "__main__":
    main()
