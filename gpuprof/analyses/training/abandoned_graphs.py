"""Graphs that autograd records beside training and nothing goes back through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.accounts.node_facts import NodeFacts
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.accounts.sample_phases import SamplePhases
from gpuprof.analyses.basics.autograd_nodes import backward_mask, matching
from gpuprof.analyses.basics.graph_joins import makers
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.analyses.lines.stretches import Stretches
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# what a model is made of: losses and metrics alone make a few nodes that nobody runs, and cost next to nothing
_OF_A_MODEL = re.compile(
    r"aten::(linear|addmm|mm|bmm|baddbmm|matmul|conv\w*|_convolution|scaled_dot_product_attention|lstm|gru|rnn_\w+"
    r"|embedding|embedding_bag)$"
)
_FEWEST_NODES = 3
BESIDE_TRAINING = (Phase.EVALUATION, Phase.GENERATION, Phase.INFERENCE)
_BACKWARD = PHASES.index(Phase.BACKWARD)


@dataclass(frozen=True, eq=False)
class AbandonedGraphs(Result):
    """Autograd numbers the nodes of a thread's graphs (see GradientRecording). A graph is abandoned where at least
    three numbers in a row belong to no node that ran, and operators that models are made of carry them.

    `count`: how many such graphs, with `nodes` together; `within`: the union of the main thread's operators that made
    them (not where the same call makes graphs that are used, unless it is an evaluation); `model_share`: of the time of
    such operators that no gradient came of, graphs or not, 0..1. `phase`: which
    most of it belongs to by the sampled stacks, None where none were. What is made after the last node that ran, or
    in a last step that may not be whole, is left out, unless the cell ended in the recording, or no step and no
    backward pass came after it: its backward pass may have come later. `known` False where no node can be joined to
    the forward pass, or where after the recording a backward pass runs from a line that was in none during it (an
    actor's, at the end of an episode): all of it is empty then.
    """

    known: bool
    count: int
    nodes: int
    within: Intervals
    model_share: float
    phase: Phase | None

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the numbers that ran and those that did not."""
        operators, node = trace.operators, backward_mask(trace)
        maker = makers(trace)
        joined = np.flatnonzero(maker >= 0)
        joined = joined[operators["thread"][maker[joined]] == trace.main_thread]
        lines = _lines_that_go_back(trace, results)
        if not len(joined) or not lines[True] <= lines[False]:
            return cls(False, 0, 0, intervals.EMPTY, 0.0, None)
        inside = intervals.contains(intervals.union(intervals.of(operators.take(node))), operators["start_ns"])
        forward = (operators["thread"] == trace.main_thread) & ~inside
        of_model = matching(trace, operators, _OF_A_MODEL)
        numbered = forward & (operators["sequence"] >= 0)
        off = intervals.union(intervals.of(operators.take(forward & of_model & ~numbered)))
        # below an operator of autograd's there are others without a number
        off = intervals.subtract(off, intervals.union(intervals.of(operators.take(numbered))))
        ran = np.unique(operators["sequence"][joined])
        last, last_ns = _until(trace, ran, goes_back_later=bool(lines[True]))
        rows = np.flatnonzero(numbered & (operators["sequence"] < last) & (operators["start_ns"] < last_ns))
        number = operators["sequence"][rows]
        gap = np.searchsorted(ran, number)
        rows, number, gap = (each[~np.isin(number, ran)] for each in (rows, number, gap))
        graphs = dict[int, _Graph]()
        for each in np.unique(gap[of_model[rows]]).tolist():
            mine = number[gap == each]
            # the number of an operator is that of the next node: the highest may be none yet
            nodes = int(mine.max() - mine.min()) + (each < len(ran))
            if nodes >= _FEWEST_NODES:
                graphs[each] = _Graph(nodes, rows[gap == each])
        phase = _phase(trace, results, _time(trace, graphs))
        if phase not in BESIDE_TRAINING:
            used = numbered & of_model & np.isin(operators["sequence"], ran)
            graphs = _never_used(trace, graphs, intervals.union(intervals.of(operators.take(used))))
            phase = _phase(trace, results, _time(trace, graphs))
        made_ns = _time(trace, graphs, of_model).total_ns
        share = made_ns / (made_ns + off.total_ns) if made_ns else 0.0
        nodes = sum(graph.nodes for graph in graphs.values())
        return cls(True, len(graphs), nodes, _time(trace, graphs), share, phase)


class _Graph(NamedTuple):
    """`rows` of the operators that made it."""

    nodes: int
    rows: Array


def _time(trace: Trace, graphs: dict[int, _Graph], among: Array | None = None) -> Intervals:
    """The union of the time of the operators that made them, of those in the mask `among`."""
    rows = np.concatenate([np.zeros(0, np.int64), *(graph.rows for graph in graphs.values())])
    return intervals.union(intervals.of(trace.operators.take(rows if among is None else rows[among[rows]])))


def _never_used(trace: Trace, graphs: dict[int, _Graph], used: Intervals) -> dict[int, _Graph]:
    """Those of calls that make no graph which a backward pass runs through: of a line search the graph of the last
    trial is used, and nobody knows before which that is. Where the stacks tell of some only, the others are like them.
    """
    stacks = trace.context.stacks
    if stacks is None or not graphs:
        return graphs
    times, nodes = _seen(trace)
    calls = np.append(own_frames(trace, stacks)[1], -1)[nodes]

    def calls_in(part: Intervals) -> set[int]:
        return set(calls[intervals.contains(part, times)].tolist()) - {-1}

    of_used, known = calls_in(used), {each: calls_in(_time(trace, {each: graphs[each]})) for each in graphs}
    if not any(callers and callers <= of_used for callers in known.values()):
        return graphs
    return {each: graph for each, graph in graphs.items() if known[each] - of_used}


def _seen(trace: Trace) -> tuple[Array, Array]:
    """When (ns) the stack was seen, and its node."""
    samples, looked = trace.stack_samples, trace.stack_instants
    ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
    times = np.concatenate((samples["start_ns"], looked["time_ns"])) + ahead_ns
    return times, np.concatenate((samples["node"], looked["node"]))


def _lines_that_go_back(trace: Trace, results: Results) -> dict[bool, set[tuple[int, ...]]]:
    """From which lines the stacks show a backward pass after the recording (True), and from which before its end."""
    stacks = trace.context.stacks
    found = dict[bool, set[tuple[int, ...]]]({True: set(), False: set()})
    if stacks is None or not len(trace.stack_samples):
        return found
    facts, (places, own) = results.get(NodeFacts), own_frames(trace, stacks)
    times, nodes = _seen(trace)
    for time, node in zip(times.tolist(), nodes.tolist(), strict=True):
        if node >= 0 and own[node] >= 0 and facts.said[node] == _BACKWARD:
            found[time > trace.span_end_ns].add(tuple(places[own[node]].tolist()))
    return found


def _until(trace: Trace, ran: Array, *, goes_back_later: bool) -> tuple[int, int]:
    """Only graphs with lower numbers than that, begun before that, had their chance."""
    window, outcome = trace.context.window, trace.context.outcome
    trains_on = goes_back_later or window is None or window.steps_seen > window.first_step + window.steps_recorded
    over = window is not None and (window.ended_by == "cell" or (window.ended_by == "pause" and not trains_on))
    if over and not (outcome and outcome.error):
        return int(np.iinfo(np.int64).max), trace.span_end_ns
    # with one optimizer the recording ends where a step does: a pass that came after a graph would have run it
    whole_steps = window is not None and window.ended_by == "steps" and len(trace.context.optimizers) == 1
    last_ns = trace.span_end_ns if whole_steps or not len(trace.steps) else int(trace.steps["start_ns"].max())
    return int(ran[-1]), last_ns


def _phase(trace: Trace, results: Results, within: Intervals) -> Phase | None:
    stretches, ahead_ns = results.get(Stretches), trace.context.sampling.get("clock_offset_ns") or 0
    if not len(stretches.node) or not within.total_ns:
        return None
    starts = stretches.start_ns + ahead_ns
    spent: Array = intervals.covered(within, starts, starts + stretches.duration_ns)
    if not spent.any():
        return None
    return PHASES[int(np.argmax(np.bincount(results.get(SamplePhases).phase, weights=spent)))]
