"""A library calls a Python function for each window, row, value or pair.

What it finds
    Calls of pandas, NumPy, SciPy or scikit-learn that take 10% of the cell or more and call a function of yours again
    and again: `rolling().apply`, `groupby().apply`, `DataFrame.apply(axis=1)`, `Series.map`, `np.vectorize`,
    `np.apply_along_axis`, `cdist` and `pairwise_distances` with a metric of your own, `generic_filter`. Known by
    samples of the stack over the whole cell. Where the function is long, is given much, or runs a model, nothing is
    said; nor of optimizers and solvers.

Why it costs
    Each call takes 1 to 100 µs before anything is computed: a Python frame, for pandas also a Series or a group.

What to do
    Use the library's own operation on all of it: methods of windows and groups, arithmetic with whole columns,
    broadcasting, a metric by name.

When to leave it
    When there are few items, or no operation on whole arrays does the same.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from gpuprof import units
from gpuprof.analyses.accounts.host_work import HostWork
from gpuprof.analyses.accounts.library_callbacks import LibraryCallback, LibraryCallbacks
from gpuprof.analyses.accounts.run_kind import KindOfRun
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.sample_error import share_error
from gpuprof.analyses.lines.statements import expressions_at
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.rules.base.finding import Abstention, Finding, Saving, Where
from gpuprof.rules.base.rule import Rule, threshold
from gpuprof.rules.cell.callback_text import callback_text
from gpuprof.rules.host.callback_kinds import OFTEN, CallbackKind, given_to, is_per_item, kind_of, removed_ns
from gpuprof.rules.host.repeated_host_work import line_of, object_words, source_of
from gpuprof.rules.saving.scope import graded, share_of, worst

_ITEMS = {
    CallbackKind.WINDOW: "each window",
    CallbackKind.GROUP: "each group",
    CallbackKind.ROW: "each row",
    CallbackKind.VALUE: "each value",
    CallbackKind.ELEMENT: "each element",
    CallbackKind.SLICE: "each slice",
    CallbackKind.PAIR: "each pair",
    CallbackKind.NEIGHBORHOOD: "each neighborhood",
}
_CHANGES = {
    CallbackKind.WINDOW: "Use the methods of the window (`.mean()`, `.std()`, `.min()`, `.quantile(q)`). For a formula "
    "of your own compute all windows in one call (`np.lib.stride_tricks.sliding_window_view`), or give `apply` "
    "`raw=True`: the function then gets arrays (`w.std(ddof=1)` for `w.std()`, `w[-1]` for `w.iloc[-1]`).",
    CallbackKind.GROUP: "Use the methods of the groups (`.mean()`, `.agg('sum')`, `.transform('mean')`): compute new "
    "columns before grouping, and aggregate those.",
    CallbackKind.ROW: "Compute with whole columns (`df.a * df.b`, `np.where`, `np.select`). Where each row needs "
    "Python, loop over `zip(df.a, df.b)`: that makes no Series of each row.",
    CallbackKind.VALUE: "Compute with the whole column (arithmetic, `np.log(column)`, `np.where`), and give `map` a "
    "dict instead of a function that looks into it (`.map(d)`, and `.map(d).fillna(default)` where it calls "
    "`d.get(x, default)`).",
    CallbackKind.ELEMENT: "Write the function for whole arrays (arithmetic, `np.where`, `np.select`) and call it "
    "directly: `np.vectorize` is a Python loop.",
    CallbackKind.SLICE: "Give the whole array and the axis to a function of NumPy (`x.mean(axis=1)`), or write yours "
    "with broadcasting.",
    CallbackKind.PAIR: "Name a built-in metric (`metric='cityblock'`), or compute all pairs with arrays, in blocks "
    "(broadcasting, a matrix product).",
    CallbackKind.NEIGHBORHOOD: "Use a built-in filter (`uniform_filter`, `median_filter`, `percentile_filter`), or "
    "compute all neighborhoods in one call (`np.lib.stride_tricks.sliding_window_view`).",
}


@dataclass(frozen=True)
class _Group:
    """Calls of one kind in one function, the longest first; `removed_ns`: of their time what a change leaves out."""

    kind: CallbackKind
    callbacks: tuple[LibraryCallback, ...]
    ns: int
    removed_ns: float


@dataclass(frozen=True)
class PythonCallbackPerItem(Rule):
    """See the module."""

    not_for = frozenset({KindOfRun.CAPTURE})

    work_share: float = threshold(0.10, "of the cell: less is not worth a change")
    medium_share: float = threshold(0.20, "of the cell without its imports: less matters little")
    high_share: float = threshold(0.40, "of the cell without its imports: then it is the first thing to change")

    def check(self, results: Results) -> Finding | Abstention | None:
        """Judge the calls that call back for each item."""
        total_ns = results.get(LibraryCallbacks).total_ns
        if not total_ns:
            return Abstention(
                self.name,
                "samples of the cell’s stack",
                "Profile the cell with `%%gpuprofile`; `gpuprof doctor` tells why none were taken.",
            )
        found = max(_groups(results), key=lambda each: each.removed_ns, default=None)
        if found is None or share_of(found.removed_ns, total_ns) < self.work_share:
            return None
        return self._finding(results, found, total_ns)

    def _finding(self, results: Results, found: _Group, total_ns: int) -> Finding:
        first, share = found.callbacks[0], share_of(found.ns, total_ns)
        counted = share_of(found.removed_ns, total_ns - results.get(HostWork).imports_ns)
        stacks = results.context.stacks
        assert stacks is not None
        error = float(share_error(np.array([share]), total_ns, stacks)[0])
        during = intervals.union(
            Intervals(
                np.concatenate([each.starts_ns for each in found.callbacks]),
                np.concatenate([each.ends_ns for each in found.callbacks]),
            )
        )
        library_share = share_of(sum(each.ns * each.library_share for each in found.callbacks), found.ns)
        return Finding(
            rule=self.name,
            severity=graded(counted, self.high_share, self.medium_share),
            title=f"{_caller(found.kind, first)} calls Python for {_ITEMS[found.kind]}: "
            f"{units.percent(share)} of the cell",
            explanation=_explanation(results, found, library_share),
            evidence={
                "work_ms": units.milliseconds(found.ns),
                "work_share": round(share, 4),
                "error_share": round(error, 4),
                "library_share": round(library_share, 4),
                "operation": _shortened(first.call),
                "callback": _bare(first.callback),
                "calls_seen": sum(each.stays for each in found.callbacks),
            },
            where=Where(
                lines=tuple(sorted({line for each in found.callbacks for line in each.cell_lines})),
                ranges_ns=worst(during),
            ),
            during=during,
            change=_CHANGES[found.kind],
            saving=Saving(
                0.0,
                found.removed_ns,
                found.ns,
                share_of(found.removed_ns, total_ns),
                "C",
                "upper bound: none of this work, by sampled stacks",
                of_cell=True,
            ),
        )


def _groups(results: Results) -> list[_Group]:
    found = defaultdict[tuple[CallbackKind, str, str], list[tuple[LibraryCallback, float]]](list)
    for each in results.get(LibraryCallbacks).callbacks:
        kind = kind_of(each, expressions_at(source_of(results, each.file), each.line))
        if kind is None:
            continue
        text = callback_text(source_of(results, each.callback_file), each.callback, each.callback_line)
        if is_per_item(kind, each, text):
            found[kind, each.file, each.function].append((each, removed_ns(kind, each, text)))
    return [
        _Group(kind, tuple(each for each, _ in group), sum(each.ns for each, _ in group), sum(ns for _, ns in group))
        for (kind, _, _), group in found.items()
    ]


def _explanation(results: Results, found: _Group, library_share: float) -> str:
    first = found.callbacks[0]
    text = callback_text(source_of(results, first.callback_file), first.callback, first.callback_line)
    name = _bare(first.callback)
    called = "a `lambda`" if name.startswith("<") else f"`{name}`"
    place = line_of(first)
    others = len({each.line for each in found.callbacks}) - 1
    beside = f" and {units.plural(others, 'other line')} of `{_bare(first.function)}`" if others else ""
    given = next(iter(given_to(first, text)), None)
    got = f" `{given.name}` was {object_words(given)}." if given is not None else ""
    # of few samples the share says nothing
    seen = sum(each.stays for each in found.callbacks) >= OFTEN
    outside = f", {units.percent(library_share)} of that outside of your function" if seen else ""
    return (
        f"In {place}{beside}, `{_shortened(first.call)}` calls {called} repeatedly: {units.duration(found.ns)} "
        f"of the cell{outside}.{got}"
    )


def _caller(kind: CallbackKind, first: LibraryCallback) -> str:
    if kind is CallbackKind.ELEMENT:
        return "`np.vectorize`"
    library = first.call.partition(".")[0]
    return "pandas" if library == "pandas" else f"`{_bare(first.call)}`"


def _shortened(name: str) -> str:
    """`pandas.Rolling.apply` of `pandas.core.window.rolling.Rolling.apply`; `numpy.vectorize` of its `__call__`."""
    library, *rest = [each for each in name.split(".") if not each.startswith("__")]
    kept = [each for each in rest[-2:-1] if each[:1].isupper()] + rest[-1:]
    return ".".join([library, *kept])


def _bare(name: str) -> str:
    return name.rpartition(".")[2]
