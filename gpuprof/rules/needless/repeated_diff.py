"""The diffs of work that is repeated: where the text shows that it may be moved, or its result used again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from gpuprof.analyses.basics.result import Array, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.repeated_chains import Again, Chain
from gpuprof.analyses.dataflow.value_graph import ValueGraph
from gpuprof.rules.cell.cell_change import cell_diff

_MOST = 3


def repeated_diff(results: Results, chains: Sequence[Chain], *, whole: bool) -> str | None:
    """Of the calculations with most time, one after the other. `whole`: the look saw whole iterations, so that it saw
    every backward pass, too."""
    found = [(each.again, lines_of(results, each.rows), whole and _ends(results, each)) for each in chains[:_MOST]]
    return cell_diff(results, lambda source: _edit(source, found))


def lines_of(results: Results, rows: Array) -> list[int]:
    """The lines of the cell by which these operators were reached, those with most time first; of each way from the
    cell's own line inwards."""
    looked, operators = results.get(LookedLines), results.get(ValueGraph).operators.take(rows)
    ways: dict[tuple[int, ...], int] = {}
    for path, place, ns in zip(*(operators[each].tolist() for each in ("path", "place", "duration_ns")), strict=True):
        way = tuple(reversed(looked.paths[path])) if 0 <= path < len(looked.paths) else (place,)
        ways[way] = ways.get(way, 0) + ns
    places = [place for way in sorted(ways, key=lambda each: -ways[each]) for place in way]
    lines = (looked.line(place) for place in places)
    return list(dict.fromkeys(line.line for line in lines if line is not None and line.in_cell))


def _ends(results: Results, chain: Chain) -> bool:
    """Whether backward passes were seen, and none of them went through the chain."""
    operators = results.get(ValueGraph).operators
    forward = operators["forward_operator"][operators["backward"]]
    return bool((forward >= 0).any()) and not np.isin(forward, chain.rows).any()


def _edit(source: str, found: Iterable[tuple[Again, list[int], bool]]) -> str | None:
    from gpuprof.code_edits.loops.hoisted import move_before_loop
    from gpuprof.code_edits.loops.kept_values import keep_value
    from gpuprof.code_edits.loops.used_again import use_again
    from gpuprof.code_edits.syntax.moved_lines import moved_line

    text = source
    for again, lines, without_backward in found:
        now = [moved for line in lines if (moved := moved_line(source, text, line)) is not None]
        edit = use_again if again is Again.WITHIN_ITERATION else move_before_loop
        after = edit(text, now, without_backward=without_backward)
        if after is None and again is not Again.WITHIN_ITERATION:
            after = keep_value(text, now)
        text = after or text
    return text if text != source else None
