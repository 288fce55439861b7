"""A Python loop processes small pieces one by one that one call could process together.

What it finds
    In the close look, a loop of at least 16 turns that run the same operators on small tensors, where no turn reads
    what an earlier turn made; the operators of the turns and of their backward passes take 20% of the operators' time
    or more. Adding results up (`loss = loss + x`), joining them (`torch.cat`) and writing them into a part of a tensor
    (`out[i] = x`) do not tie turns together. Where Python reads a result, which may come back in a later turn, the
    text of the loop has to show that it does not. Loops over weights and batches of at least 8 rows are left out.
    At least 8 iterations that each compare whole large tensors with one item, to find, count or add up some elements,
    are found as well.

Why it costs
    An operator on a small tensor takes a few microseconds, most of it in Python and in the call. All pieces in one call
    take hardly longer than one of them, and the backward pass has as many operators less.

What to do
    Give the operators the whole dimension: `f(x)` instead of `[f(row) for row in x]`, broadcasting (`x[:, None]`) for
    all pairs, `torch.vmap(f)(x)` for a function of one element (`torch.func.vmap(torch.func.grad(loss), (None, 0, 0))`
    for the gradients of each example; `randomness="different"` where it draws random numbers), `index_add_` or
    `scatter_add_` for sums by group, one forward pass for all environments or samples, padding for pieces of different
    lengths. Read what each iteration searches once: counts with `torch.bincount`, positions and thresholds with a sort
    and `torch.searchsorted`.

When to leave it
    When something other than tensors ties the turns together, such as a simulator in Python, or all pieces at once
    need more memory than there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gpuprof import units
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines
from gpuprof.analyses.dataflow.looked_time import LookedTime
from gpuprof.analyses.turns.recorded_turns import RecordedTurns
from gpuprof.analyses.turns.searching_turns import ItemSearch
from gpuprof.analyses.turns.separate_turns import LEAST_TURNS, SeparateLoop, SeparateTurns
from gpuprof.model import intervals
from gpuprof.rules.base.finding import Abstention, Finding, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.loops_on_path import IndependentLoop
from gpuprof.rules.needless.looked import SEEN_SHARE, cell_lines, line_words, without_look
from gpuprof.rules.needless.separate_loops import Separate, separate_loops
from gpuprof.rules.saving.of_looked_operators import valued
from gpuprof.rules.saving.scope import Scope, graded, share_of

_NAMED = 3
# what all pieces at once take of the loop’s time on the CPU: the most that was measured (see python_loop_over_batch)
_LEFT = 0.31
# a sort and binary searches left 0.03 to 0.69 of such loops, the most with 64 items of 20,000
# (benchmarks/search_per_item.py); where a cell sorts once for many loops, less is left
_LEFT_BY_SORTING = 0.2


@dataclass(frozen=True)
class PiecesOneByOne(Rule):
    """See the module."""

    work_share: float = threshold(0.20, "of the operators’ time: less is not worth a change")
    high_share: float = threshold(0.50, "of the operators’ time: then fix it first")
    seen_share: float = threshold(SEEN_SHARE, "of the operators of the looked-at iterations: else the recording counts")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the loops whose turns do not need each other."""
        lacking = without_look(self.name, results, self.seen_share)
        looked = separate_loops(results)
        large, share = [loop for loop, _ in looked.loops], looked.share
        if lacking is not None:
            # a part of an iteration shows what a loop does; what it takes is known of its lines
            share = min(share, _share_of_lines(results, looked))
        if not large or share < self.work_share:
            return lacking
        first = large[0]
        places = tuple(dict.fromkeys(place for loop in large[:_NAMED] for place in (loop.head, *loop.places[:_NAMED])))
        sampled = results.get(LookedTime).known
        whole = "the operators’ time" if lacking is None else "the cell" if sampled else "the recorded time"
        finding = Finding(
            rule=self.name,
            severity=graded(share, self.high_share),
            title=f"{_title(first)}: {units.percent(share)} of {whole}",
            explanation=" ".join(_words(results, *each) for each in looked.loops[:_NAMED]),
            evidence={
                "turns_per_loop": round(first.turns, 1),
                "loops": sum(loop.runs for loop in large),
                "loop_operators": len(looked.rows),
                "loop_share": round(share, 4),
                "backward_share": round(sum(loop.backward_share for loop in large), 4),
                "elements_each": first.made,
                "operators": ", ".join(first.names[:_NAMED]),
            },
            where=Where(lines=cell_lines(results, places)),
            change=_change(results, first),
        )
        saved = 1 - (_LEFT_BY_SORTING if first.searched else _LEFT)
        rows, everything = _chosen(results, looked)
        return valued(results, finding, share * saved, (rows,), everything, part=saved)


def _title(first: SeparateLoop) -> str:
    if first.searched is not None:
        return f"A whole tensor of shape {first.searched.shape} is searched in each iteration of a loop"
    if first.gradients:
        return "Gradients are computed for one small piece at a time"
    return "A Python loop processes small pieces one by one"


def _chosen(results: Results, looked: Separate) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows of the loops' operators, and a mask of all that were looked at."""
    return np.array(looked.rows, np.int64), np.ones(results.get(SeparateTurns).operators, bool)


def _share_of_lines(results: Results, looked: Separate) -> float:
    """Of the cell, the sampled time of the loops and of their backward passes; else of the recorded time."""
    known = results.get(LookedTime)
    if known.known:
        return share_of(known.of_rows(*_chosen(results, looked))[0], known.total_ns)
    scope = Scope.of(results)
    return scope.share(intervals.intersect(results.get(RecordedTurns).within, scope.within).total_ns)


def _words(results: Results, loop: SeparateLoop, written: IndependentLoop | None) -> str:
    """`The loop at line 16 runs 128 times in a row, on results of 64 elements. No turn needs another one.`"""
    if written is not None:
        return _by_text(results, loop, written)
    names = ", ".join(f"`{name.rpartition('::')[2]}`" for name in loop.names[:_NAMED])
    often = f", in {units.plural(loop.runs, 'place')} of the close look" if loop.runs > 1 else ""
    often += " before the close look ended" if loop.turns < LEAST_TURNS else ""
    if loop.searched is not None:
        several = loop.searched.tensors > 1
        what = f"{units.count(loop.searched.tensors)} whole tensors" if several else "the whole tensor"
        return (
            f"The operators of {_all(results, loop)} run {loop.turns:.0f} times in a row{often}, most time in {names}. "
            f"Each time they compare {what} of shape {loop.searched.shape} with one item"
            f"{' each. These tensors do' if several else '. The tensor does'} not change. "
            f"They take {units.percent(loop.share)} of the operators’ time in the close look."
        )
    pieces = f" Each turn takes a piece of one tensor of shape {loop.indexed}." if loop.indexed else ""
    behind = f", {units.percent(loop.backward_share)} of it in backward passes" if loop.backward_share >= 0.01 else ""
    return (
        f"The operators of {_all(results, loop)} run {loop.turns:.0f} times in a row{often}, on results of "
        f"{units.plural(loop.made, 'element')}, most time in {names}.{pieces} No turn reads what an earlier one made. "
        f"They take {units.percent(loop.share)} of the operators’ time in the close look{behind}."
    )


def _by_text(results: Results, loop: SeparateLoop, written: IndependentLoop) -> str:
    """Its operators may look like one loop with those of the loop around it, so that their number says little."""
    names = ", ".join(f"`{name.rpartition('::')[2]}`" for name in loop.names[:_NAMED])
    many = written.turns or (round(loop.turns) if written.alone else None)
    often = f" {units.count(many)} times," if many else ""
    at = _all(results, loop) if written.file else f"line {written.line}"
    return (
        f"The loop at {at} runs its operators{often} on results of {units.plural(loop.made, 'element')}, most time in "
        f"{names}. By its text, no turn needs another one. They take {units.percent(loop.share)} of the operators’ "
        "time in the close look."
    )


def _all(results: Results, loop: SeparateLoop) -> str:
    lines = results.get(LookedLines)
    words = dict.fromkeys(line_words(lines.line(place)) for place in (loop.head, *loop.places[:_NAMED]))
    named = list(words)[:_NAMED]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def _change(results: Results, loop: SeparateLoop) -> str:
    whole = f"the whole tensor of shape {loop.indexed}" if loop.indexed else "all pieces in one tensor"
    if loop.searched is not None:
        return _searched_once(loop.searched)
    drawn = " It then draws other random numbers than the loop." if loop.random else ""
    # torch.vmap draws none by default
    randomness = ', randomness="different"' if loop.random else ""
    if loop.gradients:
        return (
            f"Compute the gradients of all pieces in one call instead of {_all(results, loop)} for each: "
            f"`torch.func.vmap(torch.func.grad(loss), (None, 0, 0){randomness})(params, x, y)`, with a `loss` of one "
            "piece that calls the model by `torch.func.functional_call`. Where only their sum is needed, one forward "
            "and one backward pass take all pieces; for the rows of a Jacobian there is `torch.func.jacrev`."
            f"{drawn}"
        )
    return (
        f"Give the operators of {_all(results, loop)} {whole} in one call: broadcasting, "
        f"`torch.vmap(f{randomness})(x)` for a function of one piece, `index_add_` for sums by group, one forward pass "
        f"for all samples.{drawn}"
    )


def _searched_once(search: ItemSearch) -> str:
    if search.tensors > 1:
        return (
            f"Read the tensors of shape {search.shape} once for all items. Counts of pairs of whole numbers from 0 to "
            "`n - 1`: `torch.bincount(a.flatten().long() * n + b.flatten(), minlength=n * n).view(n, n)`. Sums by such "
            "a pair: the same with `weights=x`, or `index_add_`. Other values become such numbers by "
            "`torch.unique(t, return_inverse=True)`, and thresholds by `torch.bucketize(t, thresholds)`."
        )
    return (
        f"Read the tensor `t` of shape {search.shape} once for all items. For counts of whole numbers use "
        "`torch.bincount(t.flatten())`, for sums by item `index_add_`, for thresholds `t.flatten().sort()` and "
        "`torch.searchsorted`. For the positions of items, sort once, before the loop: "
        "`t = t.flatten()` and `order = t.argsort(stable=True)`. Then find all items with "
        "`first = torch.searchsorted(t[order], items)` and "
        "the same call with `right=True` for `end`. `order[first[i]:end[i]]` are the positions of item `i`."
    )
