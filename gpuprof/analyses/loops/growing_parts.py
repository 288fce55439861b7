"""What grows in iterations that take longer and longer: lines, operators, their number, what they take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpuprof.analyses.basics.autograd_nodes import backward_mask
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.basics.tensor_inputs import shapes_of
from gpuprof.analyses.lines.launch_places import LaunchPlaces
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.iteration_run import IterationRun
from gpuprof.analyses.loops.line_iterations import file_name, stack_path
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_MOST_NAMED = 3
# of all growth: a part that grows less is not named
_NAMED_SHARE = 0.15
# of the growth in time: where operators grow less, something else does
_EXPLAINED = 0.5
# They handle each token or row by itself: what is taken again costs them again. Attention takes all that is kept.
_BY_ROW = tuple(
    f"aten::{name}"
    for name in (
        *("mm", "addmm", "linear", "_linear", "mkldnn_linear", "mkldnn_convolution", "cudnn_convolution"),
        *("_convolution", "embedding", "index_select", "native_layer_norm", "native_batch_norm", "native_group_norm"),
        *("gelu", "relu", "silu", "lstm", "gru", "mkldnn_rnn_layer", "_cudnn_rnn", "_thnn_fused_lstm_cell"),
        *("_fused_rms_norm", "_scaled_mm"),
    )
)


@dataclass(frozen=True)
class GrowingParts:
    """`lines`: (file, line) of the notebook whose time grows most, the first most; the file is empty for the profiled
    cell. `callers`: the lines that led there. `operators`: by name. Lines and operators have the parts with a fair
    share of all growth; they are empty where unknown, operators also where most of it is elsewhere.

    `by_row_share`: of the growth of all operators, in those that handle each row by itself (products with weights,
    convolutions, norms), 0..1. `backward_share`: of the growth of the iterations, in backward passes. `count_ratio`:
    operators in a late iteration over those in an early one; `elements_ratio`: the same of the elements that they take.
    Each None where it is not known.
    """

    lines: tuple[tuple[str, int], ...] = ()
    callers: tuple[tuple[str, int], ...] = ()
    operators: tuple[str, ...] = ()
    by_row_share: float | None = None
    backward_share: float | None = None
    count_ratio: float | None = None
    elements_ratio: float | None = None


def growing_parts(trace: Trace, results: Results, run: IterationRun, early: Array, late: Array) -> GrowingParts:
    """Of the iterations with these masks, each of shape `(run.count,)`."""
    weight = late / late.sum() - early / early.sum()
    operators = trace.operators
    mine = np.flatnonzero(operators["thread"] == trace.main_thread)
    of = _iteration(run, operators["start_ns"][mine])
    mine, of = mine[of >= 0], of[of >= 0]
    grown = _by_name(trace, results, run, weight)
    risen = {name: ns for name, ns in grown.items() if ns > 0}
    total, whole = sum(risen.values()), float((run.durations_ns * weight).sum())
    by_row = sum(ns for name, ns in risen.items() if name in _BY_ROW)
    top = mine[operators["parent"][mine] < 0]
    elements = _elements(trace, top)
    lines = _lines(trace, results, run, weight)
    return GrowingParts(
        lines=lines,
        callers=_callers(trace, results, lines),
        operators=_named(risen, total) if total >= _EXPLAINED * whole else (),
        by_row_share=by_row / total if total else None,
        backward_share=_backward_ns(trace, run, weight) / whole if whole > 0 else None,
        count_ratio=_ratio(np.bincount(of, minlength=run.count), early, late),
        elements_ratio=None
        if elements is None
        else _ratio(np.bincount(of[np.isin(mine, top)], elements, run.count), early, late),
    )


def sampled_growth(
    trace: Trace, starts_ns: Array, durations_ns: Array
) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, int], ...]]:
    """`lines` and `callers` as of GrowingParts, of iterations at these Unix times, by sampled stacks: those that take
    more in the last third of the iterations than in the first."""
    samples, third = trace.stack_samples, len(starts_ns) // 3
    middle = samples["start_ns"] + samples["duration_ns"] // 2
    at = np.searchsorted(starts_ns, middle, side="right") - 1
    inside = (at >= 0) & (middle < (starts_ns + durations_ns)[np.maximum(at, 0)]) & (samples["node"] >= 0)
    weight = np.where(at >= len(starts_ns) - third, 1.0, np.where(at < third, -1.0, 0.0)) * inside
    grown = np.bincount(samples["node"][inside], (samples["duration_ns"] * weight)[inside], len(trace.stack_nodes))
    paths = {node: stack_path(trace, node) for node in np.flatnonzero(grown).tolist()}
    by_line = dict[tuple[str, int], float]()
    for node, path in paths.items():
        if path:
            by_line[path[0]] = by_line.get(path[0], 0.0) + float(grown[node])
    total = sum(ns for ns in by_line.values() if ns > 0)
    most = sorted(by_line, key=lambda line: -by_line[line])[:_MOST_NAMED]
    lines = tuple(line for line in most if by_line[line] > 0 and by_line[line] >= _NAMED_SHARE * total)
    callers = {place for path in paths.values() if path and path[0] in lines for place in path[1:]}
    return lines, tuple(sorted(callers - set(lines)))


def _iteration(run: IterationRun, times: Array) -> Array:
    """The place of the iteration of each instant; -1 where it is in none."""
    at = np.searchsorted(run.starts_ns, times, side="right") - 1
    found: Array = np.where((at >= 0) & (times < run.ends_ns[np.maximum(at, 0)]), at, -1)
    return found


def _backward_ns(trace: Trace, run: IterationRun, weight: Array) -> float:
    """By how many ns the nodes of the graph grow."""
    nodes = trace.operators.take(backward_mask(trace) & (trace.operators["parent"] < 0))
    of = _iteration(run, nodes["start_ns"])
    return float((nodes["duration_ns"] * weight[of])[of >= 0].sum())


def _by_name(trace: Trace, results: Results, run: IterationRun, weight: Array) -> dict[str, float]:
    """By how many ns the operators of each name grow: their work on a device where there is one, else their own."""
    operators = trace.operators
    if results.get(DeviceActivity).primary is not None:
        events, places = trace.device_events, results.get(LaunchPlaces)
        rows = np.flatnonzero(events["operator"] >= 0)
        of, spent = _iteration(run, places.time_ns[rows]), events["duration_ns"][rows]
        names = operators["name"][events["operator"][rows]]
    else:
        inner = operators["parent"] >= 0
        within = np.bincount(operators["parent"][inner], operators["duration_ns"][inner], len(operators))
        of, names = _iteration(run, operators["start_ns"]), operators["name"]
        spent = np.maximum(operators["duration_ns"] - within, 0)
    known = of >= 0
    grown = np.bincount(names[known], spent[known] * weight[of[known]], minlength=len(trace.names))
    return {trace.names[name]: float(grown[name]) for name in np.unique(names[known]).tolist()}


def _named(grown: dict[str, float], total: float) -> tuple[str, ...]:
    most = sorted(grown, key=lambda name: -grown[name])[:_MOST_NAMED]
    return tuple(name for name in most if grown[name] >= _NAMED_SHARE * total)


def _lines(trace: Trace, results: Results, run: IterationRun, weight: Array) -> tuple[tuple[str, int], ...]:
    places = results.get(LinePlaces)
    if places.how is None:
        return ()
    events = places.events
    of = _iteration(run, events["time_ns"])
    mine = np.flatnonzero((places.thread == places.main_thread) & (events["line"] > 0) & (of >= 0))
    spent = (np.minimum(places.end_ns[mine], run.ends_ns[of[mine]]) - events["time_ns"][mine]) * weight[of[mine]]
    pairs = np.stack((events["source_file"][mine], events["line"][mine]), axis=1)
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    grown = np.bincount(group.reshape(-1), spent, minlength=len(distinct))
    total = grown[grown > 0].sum()
    most = np.argsort(-grown, kind="stable")[:_MOST_NAMED]
    found = [distinct[row].tolist() for row in most if grown[row] > 0 and grown[row] >= _NAMED_SHARE * total]
    return tuple((file_name(trace, places.how, file), line) for file, line in found)


def _callers(trace: Trace, results: Results, lines: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """The lines of the notebook above these, by the looks at the stack and by the line of the cell that led there."""
    paths = [stack_path(trace, node) for node in np.unique(trace.stack_instants["node"]).tolist()]
    found = {place for path in paths if path and path[0] in lines for place in path[1:]}
    places = results.get(LinePlaces)
    events, how = places.events, places.how or ""
    pairs = np.stack((events["source_file"], events["line"], events["cell_line"]), axis=1)
    for file, line, cell_line in np.unique(pairs[events["cell_line"] > 0], axis=0).tolist():
        if (file_name(trace, how, file), line) in lines:
            found.add(("", cell_line))
    return tuple(sorted(found - set(lines)))


def _elements(trace: Trace, rows: Array) -> Array | None:
    """Elements of all that each of these operators takes; None where no shapes were recorded."""
    dims = trace.operators["input_dims"][rows]
    if not (dims >= 0).any():
        return None
    kinds, first, same = np.unique(dims, return_index=True, return_inverse=True)
    known = [sum(float(np.prod(shape)) for shape in shapes_of(trace, int(rows[at]))) for at in first]
    found: Array = np.array(known)[same.reshape(-1)] if len(kinds) else np.zeros(0)
    return found


def _ratio(values: Array, early: Array, late: Array) -> float | None:
    before, after = (float(np.mean(values[mask])) for mask in (early, late))
    return after / before if before > 0 else None
