"""Calls of a library that call the user's Python back: how long they take, and how much of that is the library's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.accounts.operands_at import operands_at
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.lines.own_frames import own_frames
from gpuprof.model.context import SampledStacks
from gpuprof.model.operands import Operand
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

_LEAST_SHARE = 0.01
_OWN = ("cell", "notebook", "module")
_TORCH = "torch."
# these call what they are given for each item, in a loop of their own
PER_ITEM = (
    *("pandas.core.window.", "pandas.core.groupby.", "pandas.core.resample.", "pandas.core.apply.Frame"),
    *("pandas.core.apply.SeriesApply.", "pandas.core.algorithms.map_array", "pandas.core.base.IndexOpsMixin._map"),
    *("scipy.spatial.distance.", "sklearn.metrics.pairwise.", "sklearn.neighbors.", "scipy.ndimage."),
    *("numpy.lib._shape_base_impl.apply_along_axis", "numpy.lib.shape_base.apply_along_axis"),
    *("numpy.lib._function_base_impl.vectorize", "numpy.lib.function_base.vectorize"),
)
# what goes over something of the user's calls nothing back
_ITERATED = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


@dataclass(frozen=True, eq=False)
class LibraryCallback:
    """A line of the user's code (`file`, `line`, in `function`) that calls a library, which calls `callback` back.

    `is_cell`, `execution_count`: as of a WorkLine. `call`: the library's function that the line calls; `below`: all of
    the library's functions seen in that call, outside of the callback, with the share of `ns` (0..1) that was below
    each. `callback`: its qualified name, seen in
    `callback_line` of `callback_file`; `operands`: what the names there stood for. `ns`: from the first to the last
    moment that the callback, or the library's loop around it, was seen within one call, `share` of the whole cell.
    `library_share` of `ns`: outside the callback, `inner_share` of `ns`: in the same library below the callback,
    `torch_share` of `ns`: in torch's Python below the callback, all 0..1. `stays`: how often the callback was seen
    after it was not: it was called as often at least. `cell_lines`: lines of the profiled cell that led there.
    `starts_ns`, `ends_ns`: on the trace's clock.
    """

    file: str
    is_cell: bool
    execution_count: int | None
    line: int
    function: str
    call: str
    below: Mapping[str, float]
    callback: str
    callback_file: str
    callback_line: int
    operands: tuple[Operand, ...]
    ns: int
    share: float
    library_share: float
    inner_share: float
    torch_share: float
    stays: int
    cell_lines: tuple[int, ...]
    starts_ns: Array
    ends_ns: Array


@dataclass(frozen=True, eq=False)
class LibraryCallbacks(Result):
    """`callbacks`, the longest first, each of 1% of the cell at least; of libraries other than torch. `total_ns`: the
    cell, 0 where no stack was sampled. One within another counts in both."""

    callbacks: tuple[LibraryCallback, ...]
    total_ns: int

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the sampled stacks alone."""
        total_ns = int(trace.stack_samples["duration_ns"].sum())
        if trace.context.stacks is None or not total_ns:
            return cls((), 0)
        found = _CallbackReader(trace, trace.context.stacks, total_ns).found()
        return cls(tuple(sorted(found, key=lambda each: -each.ns)), total_ns)


class _CallSite(NamedTuple):
    """A line of the user's, and the library's function that it calls."""

    file: int
    line: int
    library_file: int
    library_function: int


class _Passage(NamedTuple):
    """A call of a library on a stack: `user` and `callback` are nodes, `callback` -1 where it is not called."""

    place: _CallSite
    user: int
    callback: int
    library: tuple[int, ...]


class _CallbackReader:
    def __init__(self, trace: Trace, stacks: SampledStacks, total_ns: int):
        self._trace, self._stacks, self._total_ns = trace, stacks, total_ns
        self._node, self._lasted = (trace.stack_samples[name] for name in ("node", "duration_ns"))
        nodes = trace.stack_nodes
        self._parent, self._file, self._line, self._function = (
            nodes[name].tolist() for name in ("parent", "sampled_file", "line", "function")
        )
        self._is_own = [each.kind in _OWN for each in stacks.files]
        ahead_ns = trace.context.sampling.get("clock_offset_ns") or 0
        self._starts = trace.stack_samples["start_ns"] + ahead_ns

    @cached_property
    def _own(self) -> Array:
        return own_frames(self._trace, self._stacks)[1]

    def found(self) -> list[LibraryCallback]:
        passages = dict[_CallSite, dict[int, _Passage]]()
        for leaf in np.unique(self._node).tolist():
            for each in self._passages(leaf) if leaf >= 0 else ():
                # the outermost of several of one place: a callback that calls itself back
                passages.setdefault(each.place, {}).setdefault(leaf, each)
        found = []
        for place, of_leaf in passages.items():
            if any(each.callback >= 0 for each in of_leaf.values()):
                found.append(self._callback(place, of_leaf))
        return [each for each in found if each is not None]

    def _passages(self, leaf: int) -> list[_Passage]:
        """Outermost first."""
        stack, here = list[int](), leaf
        while here >= 0:
            stack.append(here)
            here = self._parent[here]
        found, user, library = list[_Passage](), -1, list[int]()
        for node in [*stack[::-1], -1]:
            if node >= 0 and not self._is_own[self._file[node]]:
                library.append(node)
                continue
            if user >= 0 and library and not any(self._named(each).startswith(_TORCH) for each in library):
                place = _CallSite(
                    self._file[user], self._line[user], self._file[library[0]], self._function[library[0]]
                )
                iterated = node >= 0 and self._stacks.functions[self._function[node]].endswith(_ITERATED)
                if not iterated:
                    found.append(_Passage(place, user, node, tuple(library)))
            user, library = node, []
        return found

    def _callback(self, place: _CallSite, of_leaf: dict[int, _Passage]) -> LibraryCallback | None:
        rows = np.flatnonzero(np.isin(self._node, np.array(list(of_leaf), np.int64)))
        called = np.array([of_leaf[each].callback for each in self._node[rows].tolist()], np.int64)
        looping = self._looping(of_leaf)
        in_loop = np.array([leaf in looping for leaf in self._node[rows].tolist()], bool)
        reached, stays = _reach(rows, called >= 0, in_loop)
        rows, called = rows[reached], called[reached]
        spent, inside = self._lasted[rows].astype(np.float64), called >= 0
        ns = float(spent.sum())
        if ns < _LEAST_SHARE * self._total_ns or place.line <= 0:
            return None
        seen_in = self._heaviest(called[inside], spent[inside])
        leaves = self._node[rows].tolist()
        user = next(each.user for each in of_leaf.values() if each.callback == seen_in)
        described = self._trace.context.described(self._stacks.files[place.file])
        target = self._stacks.files[self._file[seen_in]]
        call = self._called(next(each.library for each in of_leaf.values() if each.callback == seen_in))

        def below(library: str) -> float:
            found = [each and self._is_in(leaf, library) for leaf, each in zip(leaves, inside.tolist(), strict=True)]
            return float(spent[np.array(found, bool)].sum()) / ns

        return LibraryCallback(
            file=described.filename,
            is_cell=described.kind == "cell",
            execution_count=described.execution_count,
            line=place.line,
            function=self._stacks.functions[self._function[user]],
            call=call,
            below=self._below(of_leaf, leaves, spent),
            callback=self._stacks.functions[self._function[seen_in]],
            callback_file=target.filename,
            callback_line=self._line[seen_in],
            operands=operands_at(self._trace.context.operands, target.filename, self._line[seen_in]),
            ns=int(ns),
            share=ns / self._total_ns,
            library_share=float(spent[~inside].sum()) / ns,
            inner_share=below(f"{call.partition('.')[0]}."),
            torch_share=below(_TORCH),
            stays=stays,
            cell_lines=self._cell_lines(user),
            starts_ns=self._starts[rows],
            ends_ns=self._starts[rows] + self._lasted[rows],
        )

    def _looping(self, of_leaf: dict[int, _Passage]) -> set[int]:
        """The leaves in the library's function that calls back, where another one of the library's called that: it is
        the loop, whether or not the callback was seen in this moment."""
        calls_back = {self._place(each.library[-1]) for each in of_leaf.values() if each.callback >= 0}
        return {
            leaf
            for leaf, each in of_leaf.items()
            if each.callback >= 0 or any(self._place(node) in calls_back for node in each.library[1:])
        }

    def _place(self, node: int) -> tuple[int, int]:
        return self._file[node], self._function[node]

    def _below(self, of_leaf: dict[int, _Passage], leaves: list[int], spent: Array) -> dict[str, float]:
        """The library's functions of the call, with the share of the time that each was on the stack."""
        names = {leaf: {self._named(node) for node in each.library} for leaf, each in of_leaf.items()}
        found = dict.fromkeys(sorted(set[str]().union(*names.values())), 0.0)
        for leaf, ns in zip(leaves, spent.tolist(), strict=True):
            for name in names[leaf]:
                found[name] += ns / float(spent.sum())
        return found

    def _heaviest(self, called: Array, spent: Array) -> int:
        """The callback's frame in which most time was seen, by function and line."""
        keys = [(self._file[each], self._function[each], self._line[each]) for each in called.tolist()]
        held = defaultdict[tuple[int, int, int], float](float)
        for key, ns in zip(keys, spent.tolist(), strict=True):
            held[key] += ns
        most = max(held, key=lambda each: held[each])
        return int(called[keys.index(most)])

    def _called(self, library: tuple[int, ...]) -> str:
        """The outermost, past decorators."""
        names = [self._named(each) for each in library]
        return next((each for each in names if "<locals>" not in each), names[0])

    def _named(self, node: int) -> str:
        return self._library_name(self._file[node], self._function[node])

    def _library_name(self, file: int, function: int) -> str:
        module = self._stacks.files[file].filename.replace("\\", "/").removesuffix(".py").removesuffix("/__init__")
        return f"{module.replace('/', '.')}.{self._stacks.functions[function]}"

    def _is_in(self, leaf: int, library: str) -> bool:
        """Below the innermost line of the user's."""
        own = int(self._own[leaf])
        while leaf >= 0 and leaf != own:
            if self._named(leaf).startswith(library):
                return True
            leaf = self._parent[leaf]
        return False

    def _cell_lines(self, node: int) -> tuple[int, ...]:
        found = list[int]()
        while node >= 0:
            if self._file[node] == 0 and self._line[node] > 0:
                found.append(self._line[node])
            node = self._parent[node]
        return tuple(dict.fromkeys(found))


def _reach(rows: Array, inside: Array, in_loop: Array) -> tuple[Array, int]:
    """Which of the rows (of consecutive samples, where they follow each other) lie between the first and the last that
    are in the loop that calls back; and how often the callback was seen after it was not."""
    reached, stays = np.zeros(len(rows), bool), 0
    for run in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(rows) != 1) + 1):
        seen, looping = run[inside[run]], run[in_loop[run]]
        if len(looping):
            reached[looping[0] : looping[-1] + 1] = True
        if len(seen):
            stays += int((np.diff(seen) > 1).sum()) + 1
    return reached, stays
