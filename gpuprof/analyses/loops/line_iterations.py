"""Iterations by the lines of the notebook: each time that a line of a loop's body begins anew."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.loops.iteration_run import FEWEST, IterationRun
from gpuprof.analyses.loops.written_loops import WrittenLoop, WrittenLoops
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the operators between the first and the last iteration: their line has to be known
_KNOWN_SHARE = 0.8
_Line = tuple[str, int]


def line_iterations(trace: Trace, results: Results) -> list[IterationRun]:
    """Those of each written loop that ran at least FEWEST times, outer loops first; none without followed lines."""
    places = results.get(LinePlaces)
    loops = [loop for loop in results.get(WrittenLoops).loops if loop.cuts and not loop.over_modules]
    if places.how is None or not loops:
        return []
    find = _followed if places.how == "monitoring" else _learned
    found = [find(trace, results, loop) for loop in loops]
    return [each for each in found if each is not None and each.count >= FEWEST]


def line_of(trace: Trace, results: Results, start_ns: int, end_ns: int) -> WrittenLoop | None:
    """The innermost loop, if any, that nearly all looks at the stack from `start_ns` to `end_ns` stand in."""
    ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
    times = trace.stack_instants["time_ns"] + ahead_ns
    nodes = trace.stack_instants["node"][(times >= start_ns) & (times < end_ns)]
    nodes = nodes[nodes >= 0]
    if len(nodes) < FEWEST:
        return None
    paths = [stack_path(trace, int(node)) for node in nodes]
    loops = [loop for loop in results.get(WrittenLoops).loops if not loop.over_modules]
    around = [
        loop for loop in loops if np.mean([any(loop.holds(*place) for place in path) for path in paths]) >= _KNOWN_SHARE
    ]
    return min(around, key=lambda loop: loop.last - loop.line, default=None)


def stack_path(trace: Trace, node: int) -> list[_Line]:
    """The lines of the notebook on the stack that ends in that row of `stack_nodes`, the innermost first."""
    stacks, nodes = trace.context.stacks, trace.stack_nodes
    found = []
    while node >= 0 and stacks is not None:
        described = stacks.files[int(nodes["sampled_file"][node])]
        if described.kind in ("cell", "notebook"):
            found.append(("" if described.kind == "cell" else described.filename, int(nodes["line"][node])))
        node = int(nodes["parent"][node])
    return found


def _followed(trace: Trace, results: Results, loop: WrittenLoop) -> IterationRun | None:
    places = results.get(LinePlaces)
    events, mine = places.events, places.thread == places.main_thread
    mine = mine & (events["source_file"] == _file_row(trace, loop.file)) & events["begins"]
    times, lines = events["time_ns"][mine], events["line"][mine]
    cut = next((each for each in loop.cuts if (lines == each).any()), None)
    if cut is None:
        return None
    starts = times[lines == cut]
    # the loop's own line begins again behind each iteration, and behind the last one as well
    ends = np.append(starts[1:], places.within.ends[-1] if len(places.within.ends) else trace.span_end_ns)
    again = np.append(np.sort(times[lines == loop.line]), np.iinfo(np.int64).max)
    ends = np.minimum(ends, again[np.searchsorted(again, starts, side="right")])
    return IterationRun("lines", starts, np.maximum(ends, starts), loop.line, loop.file)


def _file_row(trace: Trace, file: str) -> int:
    files = trace.context.lines.files if trace.context.lines else ()
    return 0 if not file else next((row for row, each in enumerate(files) if each.filename == file), -2)


def _learned(trace: Trace, results: Results, loop: WrittenLoop) -> IterationRun | None:
    """By operators whose line was learned: the first one of a cut's line after those of another line."""
    operators, places = trace.operators, results.get(LinePlaces)
    rows = np.flatnonzero((operators["thread"] == trace.main_thread) & (operators["parent"] < 0))
    rows = rows[np.argsort(operators["start_ns"][rows], kind="stable")]
    starts = operators["start_ns"][rows]
    ends = starts + operators["duration_ns"][rows]
    body = _body_lines(trace, places, loop)
    event = places.at(operators["thread"][rows], starts)
    line = np.where(event >= 0, body[np.maximum(event, 0)], -1) if len(body) else np.full(len(rows), -1)
    inside = np.flatnonzero(line > 0)
    if not len(inside):
        return None
    span = slice(int(inside[0]), int(inside[-1]) + 1)
    if np.mean(event[span] >= 0) < _KNOWN_SHARE:
        return None
    # between two operators of the loop an unknown one is the loop's as well
    starts, ends, event, line = starts[span], ends[span], event[span], line[span]
    known = np.maximum.accumulate(np.where(event >= 0, np.arange(len(line)), 0))
    line = line[known]
    for cut in loop.cuts:
        begins = np.flatnonzero((line == cut) & (np.concatenate(([-1], line[:-1])) != cut))
        if len(begins) >= FEWEST and (line[line > 0] != cut).any():
            return _run(starts, ends, line, begins, loop)
    return None


def _run(starts: Array, ends: Array, line: Array, begins: Array, loop: WrittenLoop) -> IterationRun:
    """Each until the next one begins, or until the loop is left."""
    left = np.append(np.flatnonzero(line < 0), len(line))
    last = np.minimum(np.append(begins[1:], len(line)), left[np.searchsorted(left, begins)])
    after = np.append(starts, ends[-1])
    until = np.where(np.isin(last, begins), after[last], ends[last - 1])
    return IterationRun("lines", starts[begins], until, loop.line, loop.file)


def _body_lines(trace: Trace, places: LinePlaces, loop: WrittenLoop) -> Array:
    """For each row of `places.events` the line of the loop's body that is on the stack there; -1 where none is."""
    votes: defaultdict[_Line, Counter[int]] = defaultdict(Counter)
    for node in np.unique(trace.stack_instants["node"]).tolist():
        path = stack_path(trace, node)
        if path:
            inner = (each for file, each in path if loop.holds(file, each))
            votes[path[0]][next(inner, -1)] += 1
    events = places.events
    found = np.empty(len(events), np.int64)
    pairs = np.stack((events["source_file"], events["line"]), axis=1)
    distinct, group = np.unique(pairs, axis=0, return_inverse=True)
    for number, (file, line) in enumerate(distinct.tolist()):
        place = (file_name(trace, "samples", file), line)
        seen = votes.get(place)
        found[group.reshape(-1) == number] = (
            seen.most_common(1)[0][0] if seen else line if line > 0 and loop.holds(*place) else -1
        )
    return found


def file_name(trace: Trace, how: str, number: int) -> str:
    """The file of a line event by its number, empty for the profiled cell; followed and learned events count apart."""
    context = trace.context
    if how == "monitoring":
        names = [each.filename for each in (context.lines.files if context.lines else ())]
    else:
        own = [each for each in (context.stacks.files if context.stacks else ()) if each.kind in ("cell", "notebook")]
        names = ["" if each.kind == "cell" else each.filename for each in own]
    if number == 0 and how == "monitoring":
        return ""
    return names[number] if 0 <= number < len(names) else "?"
