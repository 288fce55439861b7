"""A whole collection is searched, compared, copied, converted or summed up again for each item.

What it finds
    A line that takes 10% of the cell or more, runs again and again, and goes through all of one large object each time:
    `list.index`, `in` on a list (also on one that is taken out of a larger container for each item), a boolean mask
    over a whole table, `list(memory)`, `np.array(memory)`, `choice(…, p=weights)`, `shuffle`, `np.isin(…, known)`, a
    table that is joined to itself with one more row, a list that is read from its beginning whenever it got longer, a
    sum over the rest of a list for each of its places, places in the middle of a long deque. The line is known by
    samples of the stack over the whole cell, the object by looks at the names of the function that runs.

Why it costs
    Each item costs as much as the whole collection is long: twice the data take four times as long.

What to do
    Do what concerns the whole collection once, before the loop: a dict from key to position, a set, groups by key, a
    sorted array. Convert only what is used. Draw all numbers in one call. Collect rows in a list and join them once,
    after the loop.

When to leave it
    When the collection changes between two items, so that nothing made of it can be kept.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuprof.analyses.accounts.host_work import HostWork
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.rules.base.finding import Abstention, Finding
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.cell_bindings import dotted
from gpuprof.rules.cell.wanted_work import draws_without_replacement
from gpuprof.rules.host.operations import OF_ALL, Family
from gpuprof.rules.host.repeated_host_work import (
    RepeatedHostWork,
    best,
    judged,
    object_words,
    often,
    repeated_work,
    source_of,
)

_TITLES = {
    Family.SEARCH: "{kind} is searched {often}",
    Family.MASK: "{kind} is compared in full {often}",
    Family.COPY: "{kind} is read in full {often}",
    Family.CONVERT: "{kind} is converted in full {often}",
    Family.DRAW: "The probabilities in {kind} are prepared again for each draw",
    Family.ORDER: "All of {kind} is shuffled {often}",
    Family.MEMBERS: "{kind} is searched in full {often}",
    Family.JOIN: "{kind} is copied each time something is added",
    Family.REREAD: "{kind} grows and is read in full {often}",
    Family.TOTAL: "A part of {kind} is summed again {often}",
    Family.WALK: "{kind} is read at random positions {often}",
}
_CHANGES = {
    Family.SEARCH: "Make the positions of `{name}` once, before the loop "
    "(`{{key: i for i, key in enumerate({name})}}`, or a set where only `in` is asked), and look each item up there.",
    Family.MASK: "Group `{name}` by that key once, before the loop, and take each group from there: "
    "`groups = dict(tuple(table.groupby(key)))` for a DataFrame; for an array, the positions of each key, in their "
    "order (`np.argsort(keys, kind='stable')` with `np.searchsorted`).",
    Family.COPY: "Do not copy or go through all of `{name}` each time: keep the form that is needed up to date (a list "
    "that is used as a ring buffer, a running sum, a sorted list), or make it once, before the loop.",
    Family.CONVERT: "Take the items that are needed out of `{name}` first and convert those alone, or keep them in one "
    "array that is made once (`np.empty`), and write new ones into it.",
    Family.DRAW: "Make `cdf = np.cumsum({name})` once, before the loop (in a class, in `__init__`), and draw with "
    "`np.searchsorted(cdf, u * cdf[-1], side='right')`, where `u` are as many uniform numbers as are drawn. Or draw "
    "for many items in one call, where they may get other random numbers.",
    Family.ORDER: "Draw only what is used, with a generator (`np.random.default_rng().choice(n, k, replace=False)`, "
    "`random.sample`), or shuffle `{name}` once for each pass and take its parts one after another.",
    Family.MEMBERS: "If the same call comes again, such as `np.setdiff1d` for each user, keep its results in a dict "
    "that is made once, before the loop. To test whether single items are in `{name}`, make a set of it once.",
    Family.JOIN: "Append the new rows to a list, and join them once, after the loop.",
    Family.TOTAL: "Go through `{name}` once and keep the running total: add each item to the total of the items before "
    "it (`itertools.accumulate`, `np.cumsum`), or from the end for totals of what follows, as with discounted rewards: "
    "`total = reward + gamma * total`.",
    Family.WALK: "To read a position, a deque walks there from its nearer end. Keep the items in a list, as a ring "
    "buffer: append to it until it has `n` items, then `data[at] = item; at = (at + 1) % n`. A list reads every "
    "position in the same time. "
    "Arrays or tensors of all items, indexed with many positions at once, are faster still.",
    Family.REREAD: "Keep the result for what was there before and add only what is new; do the rest once, after the "
    "loop.",
}
_LEAVE = {
    Family.WALK: "Leave it when positions must count from the oldest item.",
}
_SEARCH_GROWING = (
    "Keep a set beside `{name}` (a dict where positions are asked), add to it wherever `{name}` gets longer, and look "
    "each item up there. Lists and arrays go in as `tuple(x)`."
)
_DRAW_ALL = (
    "Draw without replacement for many rows at once: the `k` largest of `rng.random((rows, n)) ** (1 / {name})` in "
    "each row (`np.argpartition`). The random numbers differ."
)


@dataclass(frozen=True)
class WholeCollectionPerItem(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})

    work_share: float = threshold(0.10, "of the cell: less is not worth a change")
    medium_share: float = threshold(0.20, "of the cell without its imports: less matters little")
    high_share: float = threshold(0.40, "of the cell without its imports: then it is the first thing to change")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the lines with such an operation."""
        work = results.get(HostWork)
        if not work.total_ns or not work.looked:
            return Abstention(
                self.name,
                "samples of the cell’s stack, and the kinds and lengths of what its lines go through",
                "Profile the cell with `%%gpuprofile`; a trace file does not hold them.",
            )
        found = best(repeated_work(results, OF_ALL), self.work_share)
        if found is None or found.operation.over is None:
            return None
        family, over = found.operation.family, found.operation.over
        title = _TITLES[family].format(kind=object_words(over), often=often(found))
        title = title[0].upper() + title[1:]
        change = found.operation.advice or _change(results, found).format(name=over.name)
        finding = judged(results, self.name, found, title, change, (self.medium_share, self.high_share))
        return replace(finding, leave_it=_LEAVE.get(family, finding.leave_it))


def _change(results: Results, found: RepeatedHostWork) -> str:
    family, over, line = found.operation.family, found.operation.over, found.first
    nodes = expressions_at(source_of(results, line.file), line.line)
    if family is Family.SEARCH and over is not None and over.least != over.most:
        return _SEARCH_GROWING
    if family is Family.DRAW and draws_without_replacement(nodes):
        return _DRAW_ALL
    if family is Family.MASK and over is not None and (key := _key(nodes, over.name)):
        return _CHANGES[family].replace("that key", f"`{key}`")
    return _CHANGES[family]


def _key(nodes: Sequence[ast.AST], table: str) -> str:
    """The one column of the table that the line compares for being equal; empty where the text does not tell."""
    compared = (each for each in nodes if isinstance(each, ast.Compare) and isinstance(each.ops[0], ast.Eq))
    found = {key for each in compared for side in (each.left, each.comparators[0]) if (key := _column(side, table))}
    return found.pop() if len(found) == 1 else ""


def _column(node: ast.expr, table: str) -> str:
    """`day` of `table.day` and of `table["day"]`."""
    if isinstance(node, ast.Attribute) and dotted(node.value) == table:
        return node.attr if node.attr not in ("values", "T") else ""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and dotted(node.value) == table:
        return node.slice.value if isinstance(node.slice.value, str) else ""
    return ""
