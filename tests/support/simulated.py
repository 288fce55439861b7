"""What-if figures of a run: its graph, how well that replays, and every kind of change made to it, simulated.

The changes are not advice: each is made to the rows and times at hand, so that every function of whatif/changes runs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.loading.worker_plan import WorkerPlan
from gpuprof.analyses.loops.grown_tensors import GrownTensors
from gpuprof.errors import UsageError
from gpuprof.model import intervals
from gpuprof.model.context import RunContext, Window
from gpuprof.model.intervals import Intervals
from gpuprof.model.kinds import CallKind, DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes import (
    batches,
    collectives,
    copies,
    gradients,
    graph_edits,
    host_loops,
    kernel_times,
    optimizers,
    prefetch,
    restructure,
    trace_changes,
)
from gpuprof.whatif.changes.graph_edits import GraphEdit
from gpuprof.whatif.grade import grade, nature
from gpuprof.whatif.graph.graph import Graph
from gpuprof.whatif.graph.nodes import HOST_WAITS, EdgeKind, NodeKind
from gpuprof.whatif.line_profile import LineProfile
from gpuprof.whatif.predict import Change, Range, Replay, busy_bound_ns, predict
from gpuprof.whatif.removal import saved_by_number
from gpuprof.whatif.retime import frozen, retime, span_ns
from tests.support.figures import Plain, array, checksum, plain

SLOWED = 1.2
"""How much longer a step is made to seem with the recording than without it."""

TRUSTED: dict[str, Any] = {
    "waits_recorded": True,
    "unexplained_wait_ns": 0,
    "unexplained_ns": 0,
    "step_errors": (0.01,),
}
"""A replay that is good enough for numbers, whatever the run."""


def of_whatif(results: Results) -> dict[str, Plain]:
    """Everything; for a run without calls or device work little."""
    replay = Replay.of(results.trace, results)
    told = {"graph": of_graph(replay.graph), "replay": of_replay(replay), "lines": plain(results.get(LineProfile))}
    told["part"] = of_part(results.trace)
    told["removal"] = of_removal(replay, len(results.trace.calls))
    told["calibrated"] = of_calibrated(results)
    trusted = replace(replay, facts=replace(replay.facts, **TRUSTED))
    for name, change in changes(results).items():
        told[name] = of_change(trusted, change)
    return told


def of_graph(graph: Graph) -> Plain:
    """Its nodes, edges and times."""
    nodes, edges = graph.nodes, graph.edges
    return of_times(graph) | {
        "recorded": array(nodes.recorded_ns),
        "chain": array(nodes.chain),
        "row": array(nodes.row),
        "unexplained": array(graph.unexplained_ns),
        "edges_by_kind": {
            kind.name: [int((edges.kind == kind).sum()), int(edges.lag_ns[edges.kind == kind].sum())]
            for kind in EdgeKind
            if (edges.kind == kind).any()
        },
        "ends": array(edges.dst),
        "begins": array(edges.src),
        "streams": plain(graph.streams),
        "host_chain": graph.host_chain,
        "busy": busy_bound_ns(graph),
    }


def of_times(graph: Graph) -> dict[str, Plain]:
    """Simulated: when all has ended and a checksum of all ends; what each kind of node takes; edges and their lags."""
    spent = [int(graph.duration_ns[graph.nodes.kind == kind].sum()) for kind in NodeKind]
    edges = [len(graph.edges.src), int(graph.edges.lag_ns.sum())]
    ends = checksum(retime(graph).astype("<i8").tobytes())
    return {"span": [span_ns(graph), span_ns(frozen(graph))], "all": ends, "by_kind": spent, "edges": edges}


def of_replay(replay: Replay) -> Plain:
    """Fidelity, grade, calibration."""
    found = grade(replay.facts)
    told = {name: plain(getattr(replay, name)) for name in ("facts", "calibration", "possible", "run_ns", "frozen_ns")}
    return told | {"grade": plain(found), "recorded_replay_ns": replay.recorded_replay_ns}


def of_part(trace: Trace) -> Plain:
    """The graph of the middle half."""
    quarter = trace.span_ns // 4
    part = Replay.of(trace, start_ns=trace.span_start_ns + quarter, end_ns=trace.span_end_ns - quarter)
    return of_times(part.graph) | {"replay": of_replay(part)}


def of_calibrated(results: Results) -> Plain:
    """As if a stopwatch had shown steps of less time without the recording."""
    trace, recorded_ns = results.trace, 1_000_000.0
    told = {}
    for slowed in (SLOWED, 1.03, 1.02):
        window = Window(recorded_step_ns=recorded_ns, plain_step_ns=recorded_ns / slowed)
        timed = replace(trace, context=RunContext(window=window, lines=trace.context.lines))
        replay = Replay.of(timed)
        halved = of_change(replay, trace_changes.host_time_scaled(whole(trace), 0.5))
        told[str(slowed)] = {"calibration": plain(replay.calibration), "run_ns": replay.run_ns, "halved": halved}
    return told


def of_change(replay: Replay, change: Change | None) -> Plain:
    """The changed graphs, and what is said of the change."""
    if change is None:
        return {}
    edits = (change.pessimistic, change.central, change.optimistic) if isinstance(change, Range) else (change,)
    try:
        told: list[Plain] = [of_edited(replay.graph, edit) for edit in dict.fromkeys(edits)]
        said = predict(replay, change)
    except UsageError as error:
        return {"refused": type(error).__name__}
    numbers = [plain(each) for each in (said.low_ns, said.central_ns, said.high_ns, said.share)]
    return {"edits": told, "said": [*numbers, said.grade, len(said.reasons), said.minor]}


def of_edited(graph: Graph, edit: GraphEdit) -> Plain:
    """One changed graph."""
    changed = edit(graph)
    of = nature(graph, changed)
    return of_times(changed) | {"nature": [of.removes_only, of.models_kernels]}


def whole(trace: Trace) -> Intervals:
    """The recorded span."""
    return intervals.single(trace.span_start_ns, trace.span_end_ns)


def changes(results: Results) -> dict[str, Change | None]:
    """Every function of whatif/changes, asked about the run's own rows and times."""
    chosen = Chosen(results)
    return {**_of_times(chosen), **_of_rows(chosen), **_of_streams(chosen), **_of_subjects(chosen)}


class Chosen:
    """Which rows and times of a run are changed."""

    def __init__(self, results: Results) -> None:
        self.results = results
        trace = self.trace = results.trace
        self.events = np.arange(len(trace.device_events))
        self.third = self.events[::3]
        kind = trace.device_events["kind"]
        self.copies = np.flatnonzero(kind == DeviceEventKind.COPY)
        self.kernels = np.flatnonzero(kind == DeviceEventKind.KERNEL)
        self.calls = np.arange(len(trace.calls))
        self.waits = np.flatnonzero(trace.calls["kind"] == CallKind.SYNCHRONIZE)
        quarter = trace.span_ns // 4
        self.middle = intervals.single(trace.span_start_ns + quarter, trace.span_end_ns - quarter)
        self.ranges = intervals.union(intervals.of(trace.user_ranges))
        self.operators = intervals.union(intervals.of(trace.operators.take(np.arange(0, len(trace.operators), 2))))
        self.device = int(trace.device_events["device"][0]) if len(self.events) else 0

    def step_of(self, rows: Array) -> Array:
        """The step in which each device event begins, -1 for none."""
        steps, at = self.trace.steps, self.trace.device_events["start_ns"][rows]
        if not len(steps):
            return np.full(len(rows), -1)
        step = np.searchsorted(steps["start_ns"], at, side="right") - 1
        within = (step >= 0) & (at < (steps["start_ns"] + steps["duration_ns"])[step])
        return np.where(within, step, -1)


def _of_times(chosen: Chosen) -> dict[str, Change | None]:
    scaled, results = trace_changes.host_time_scaled, chosen.results
    own = np.linspace(0.0, 2.0, len(chosen.operators.starts))
    return {
        "middle_half": scaled(chosen.middle, 0.5),
        "operators_each": scaled(chosen.operators, own),
        "ranges_gone": batches.batches_at_once(chosen.ranges),
        "batches_planned": batches.batches_planned(results.get(WorkerPlan), chosen.ranges),
        "batches_of_2": trace_changes.batches_from_workers(
            chosen.ranges, chosen.ranges.ends - chosen.ranges.starts, 2, 2, gained=0.75
        ),
        "graphs": trace_changes.launched_as_graphs(whole(chosen.trace), 20_000),
        "graphs_middle": trace_changes.launched_as_graphs(chosen.middle, 3_000),
        "launching": trace_changes.launching_scaled(chosen.middle, 10_000, 0.25),
        "backward_ended": gradients.backward_ended(results, chosen.middle),
        "turns": host_loops.turns_at_once(results, 10.0, chosen.middle),
        "accesses": host_loops.accesses_at_once(results, chosen.operators, 0.1),
        "optimizer": optimizers.optimizer_steps_taking(results, chosen.ranges, 0.3),
        "zeroing": optimizers.zeroing_dropped(results, chosen.ranges, chosen.operators, 0.25),
    }


def _of_rows(chosen: Chosen) -> dict[str, Change | None]:
    now = chosen.trace.device_events["duration_ns"]
    half = len(chosen.waits) // 2
    return {
        "calls_gone": trace_changes.calls_gone(chosen.calls[::2]),
        "waits_gone": trace_changes.calls_gone(chosen.waits),
        "waits_dropped": trace_changes.waits_dropped(chosen.waits[half:]),
        "scaled": trace_changes.operations_scaled(chosen.third, 0.5),
        "lasting": trace_changes.operations_lasting(chosen.events[1::2], now[1::2] // 2 + 700),
        "gone": trace_changes.operations_gone(chosen.third),
        "unblocked": _unblocked(chosen.copies),
        "pinned": trace_changes.copies_from_pinned(chosen.copies, now[chosen.copies] // 3, chosen.waits, 1500),
        "taking": kernel_times.kernels_taking(chosen.kernels[::2], 1, 0.75, 0.25),
        "attention": kernel_times.attention_fused(chosen.kernels[::3], chosen.kernels[1::3]),
        "sparse": gradients.gradients_sparse(chosen.kernels[::4], 0.125, chosen.kernels[1::4], 0.375),
        "queue_dropped": lambda graph: graph_edits.drop_edge(
            graph, np.arange(len(graph.nodes)), EdgeKind.QUEUE, EdgeKind.RELEASE, *HOST_WAITS
        ),
        "together": graph_edits.together(
            trace_changes.calls_gone(chosen.waits), trace_changes.operations_scaled(chosen.third, 0.0)
        ),
    }


def _unblocked(rows: Array) -> GraphEdit:
    def edit(graph: Graph) -> Graph:
        nodes = graph.event_node[rows]
        return graph_edits.unblock_copies(graph, nodes[nodes >= 0], 2000)

    return edit


def _of_streams(chosen: Chosen) -> dict[str, Change | None]:
    rows = chosen.copies if len(chosen.copies) else chosen.third
    return {
        "prefetched": prefetch.copies_prefetched(rows, chosen.step_of(rows), chosen.device),
        "moved": _moved(chosen.third, (chosen.device, 99)),
        "moved_among": _moved(chosen.third[:5], (chosen.device, 7)),
        "moved_for": _moved(chosen.third, (chosen.device, 99), joined=True),
    }


def _moved(rows: Array, stream: tuple[int, int], *, joined: bool = False) -> GraphEdit:
    """`joined`: with the operation before each for its producer, and the one after the next for its consumer."""

    def edit(graph: Graph) -> Graph:
        nodes = graph.event_node[rows]
        nodes = np.unique(nodes[nodes >= 0])
        if not joined or not len(nodes):
            return restructure.move_stream(graph, nodes, stream) if len(nodes) else graph
        every = graph.select(NodeKind.DEVICE_OP)
        stays = np.append(np.setdiff1d(every, nodes), -1)
        after = stays[np.searchsorted(stays[:-1], nodes)]
        return restructure.move_stream(graph, nodes, stream, consumers=after, producers=np.full(len(nodes), -1))

    return edit


def _of_subjects(chosen: Chosen) -> dict[str, Change | None]:
    results, events = chosen.results, chosen.trace.device_events
    issued = np.unique(events["call"][chosen.copies])
    issued = issued[issued >= 0]
    cats = np.arange(0, len(results.get(GrownTensors).cats), 2)
    return {
        "collectives": collectives.collectives_hidden(results, chosen.middle, chosen.trace.span_ns / 8),
        "copied_together": copies.copied_together(results),
        "from_pinned": copies.copied_from_pinned(results, issued, None),
        "from_pinned_known": copies.copied_from_pinned(results, issued, 2.5e9),
        "cats": host_loops.cats_scaled(results, cats, 0.5),
    }


def of_removal(replay: Replay, calls: int) -> Plain:
    """What is saved with more and more of the calls gone."""
    groups = np.array_split(np.arange(calls), 5)
    return {"saved_ns": plain(saved_by_number(replay, groups, (1, 3, 5)))}
