"""The loops of the close look whose turns do not need each other: by their values, or by their text where Python reads
results in between."""

from __future__ import annotations

from dataclasses import dataclass

from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.loops.written_loops import sources_of
from gpuprof.analyses.turns.separate_turns import SeparateLoop, SeparateTurns
from gpuprof.rules.cell.cell_change import known_models
from gpuprof.rules.cell.loops_on_path import IndependentLoop, independent_loop

# all of them in one call then save most of the time
_LEAST_TURNS = 8


@dataclass(frozen=True)
class Separate:
    """`loops`: most time first, each with the written loop where only its text shows it. `rows`: of
    `looked_operators`, of all of them, each once; `share`: their part of the time of all operators, 0..1."""

    loops: tuple[tuple[SeparateLoop, IndependentLoop | None], ...]
    rows: tuple[int, ...]
    share: float


def separate_loops(results: Results) -> Separate:
    """Of the run that was looked at."""
    found = results.get(SeparateTurns)
    rows = set[int](found.rows.tolist())
    both: list[tuple[SeparateLoop, IndependentLoop | None]] = [(loop, None) for loop in found.loops]
    for loop in found.told:
        written = _written(results, loop) if rows.isdisjoint(loop.rows) else None
        if written is not None and _has_many_turns(results, loop, written):
            both.append((loop, written))
            rows.update(loop.rows)
    # they have no operator in common
    share = found.share + sum(loop.share for loop, written in both if written is not None)
    return Separate(tuple(sorted(both, key=lambda each: -each[0].time_ns)), tuple(sorted(rows)), share)


def _written(results: Results, loop: SeparateLoop) -> IndependentLoop | None:
    lines = results.get(LookedLines)
    at = [row for row in loop.rows if lines.place[row] == loop.head and lines.path[row] >= 0]
    if not at:
        return None
    path = [lines.lines[row] for row in lines.paths[int(lines.path[at[0]])] if 0 <= row < len(lines.lines)]
    chain = [("" if each.in_cell else each.file, each.line) for each in path]
    return independent_loop(dict(sources_of(results.context)), chain, known_models(results))


def _has_many_turns(results: Results, loop: SeparateLoop, written: IndependentLoop) -> bool:
    """The operators of two loops within one another may look like one long loop."""
    if written.turns is not None or written.alone:
        return (written.turns or loop.turns) >= _LEAST_TURNS
    # contents are no longer counted once nearly all were different
    values = [
        each.contents or each.made
        for each in results.context.made_values
        if each.function == written.function and each.name in written.variables
    ]
    return max(values, default=0) >= _LEAST_TURNS
