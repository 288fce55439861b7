"""Work whose results nobody reads, or hardly anybody: by line, with its time among the operators seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median
from typing import NamedTuple, Self

import numpy as np

from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.flow import Flow, Needed
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, operators_of, values_of
from gpuprof.analyses.training.piled_gradients import piled_up
from gpuprof.model.look import Look
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace

# "hardly read": from where on computing only what is read is worth thinking about
_HARDLY = 0.5
# of the share of its time for nothing in one iteration, that in each other one
_ALIKE = 0.5
_WHOLE = ("iterations", "cell")
_BY_CONTENT = frozenset({"nonzero", "argwhere", "masked_select", "_unique2", "unique_dim", "unique_consecutive"})
# attention that is written out
_SOFTMAX, _PRODUCTS = frozenset({"_softmax", "_safe_softmax"}), frozenset({"bmm", "baddbmm"})


class Unread(Enum):
    """What is not read."""

    RESULTS = "results"
    PARTS = "parts"
    GRADIENTS = "gradients"


class LineCalls(NamedTuple):
    """In one iteration a line runs the same operators `calls` times, and it is so in `unread` of them; `last`: in those
    that come last. `share` of the forward time that the line has in these calls is for nothing. `attends`: it computes
    attention, which reads keys and values of all positions."""

    calls: int = 1
    unread: int = 1
    last: bool = True
    share: float = 1.0
    attends: bool = False


@dataclass(frozen=True, eq=False)
class UnreadPlace:
    """Work for nothing at one line, by its `rows` of looked_operators.

    `place` is the line (of a backward pass the one that called it), `forward_place` the line whose gradients it makes,
    `taken_at` the line that selects a part of the results: rows of the looked places, -1 where not known. `wasted_ns`
    of the `rows_ns` of these operators are for nothing; `surely_ns` without what rests on likeness: gradients that are
    there at the end of the look are as those of other iterations, and the gradients of a part that nobody reads are
    zeros (`backward_ns`). `operator` is the one with most of it: of its results `elements_read` of `elements_made` are
    needed each time; `largest` is its row. `line`: in which calls of the line results are hardly read.
    """

    kind: Unread
    rows: tuple[int, ...]
    place: int
    forward_place: int
    taken_at: int
    operator: str
    operators: int
    elements_read: int
    elements_made: int
    wasted_ns: int
    surely_ns: int
    backward_ns: int = 0
    rows_ns: int = 0
    largest: int = -1
    line: LineCalls = field(default=LineCalls())


@dataclass(frozen=True, eq=False)
class UnreadWork(Result):
    """`places`: largest first. `time_ns` of all `operators` seen in `iterations` iterations, `wasted_ns` of them for
    nothing, whatever the reason. `piled_up`: some of it adds to gradients of a model, which no optimizer uses any
    more. `looked` is False, with `reason` in words, where reads are not known."""

    looked: bool = False
    reason: str = ""
    iterations: int = 0
    operators: int = 0
    time_ns: int = 0
    wasted_ns: int = 0
    places: tuple[UnreadPlace, ...] = field(default=())
    piled_up: bool = False

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """Two walks: what is surely not needed, and what may not be, as it is still there at the end."""
        look = trace.context.look
        if look is None or look.skipped is not None or not len(trace.tables["looked_operators"]):
            return cls(reason=(look.skipped or "") if look is not None else "")
        if look.unseen_writes or look.ended_by == "mode":
            return cls(reason="code outside of torch’s operators reads or writes tensors")
        operators, values = operators_of(trace), values_of(trace)
        piled = piled_up(trace, operators, values)
        sure = Flow(operators, values, passed_on=piled).needed
        possible = Flow(operators, values, kept_needed=False).needed
        table = weighed_operators(trace, results)
        called_back = set(table["forward_place"][table["backward"]].tolist()) - {-1}
        columns = [table[name].tolist() for name in _COLUMNS]
        called = [place in called_back for place in table["place"].tolist()]
        names_of = [operator.name for operator in operators]
        by_content = [_looks_through(operator) for operator in operators]
        sure, possible = (list(map(_of_all, each, by_content)) for each in (sure, possible))
        cut = _cut_off(look, table)
        every = zip(range(len(operators)), names_of, *columns, sure, possible, called, cut, strict=True)
        rows = [_Row(*row) for row in every]
        return cls(
            looked=True,
            iterations=look.iterations,
            operators=len(rows),
            time_ns=sum(row.duration_ns for row in rows),
            wasted_ns=round(sum(row.wasted_ns for row in rows)),
            places=_places(rows, selector=lambda taker: _selector(operators, values, taker)),
            piled_up=bool(piled),
        )


_COLUMNS = ("duration_ns", "iteration", "place", "path", "forward_place", "backward", "graph")


@dataclass(frozen=True)
class _Row:
    number: int
    name: str
    duration_ns: int
    iteration: int
    place: int
    path: int
    forward_place: int
    backward: bool
    graph: bool
    needed: Needed
    possible: Needed
    called_back: bool
    cut: bool

    @property
    def kind(self) -> Unread | None:
        share = self.needed.share
        if self.graph and self.called_back and not share:
            # a loss that is not printed: its gradients are needed all the same
            return None
        if self.backward:
            half = names.plain(self.name) == "convolution_backward"
            return Unread.GRADIENTS if not share or (half and share <= _HARDLY) else None
        return None if share > _HARDLY else Unread.PARTS if share else Unread.RESULTS

    @property
    def wasted_ns(self) -> float:
        return self.duration_ns * (1 - self.needed.share)


def _cut_off(look: Look, table: Table) -> list[bool]:
    """Operators of iterations in which a look was cut off: what reads their results came later."""
    cut = np.zeros(len(table), bool)
    for number, part in enumerate(look.each):
        own = table["look"] == number
        if part.ended_by not in _WHOLE and own.any():
            cut |= own & (table["iteration"] == table["iteration"][own].max())
    found: list[bool] = cut.tolist()
    return found


def _looks_through(operator: LookedOperator) -> bool:
    """Whether how much it gives depends on numbers that it looks through: a part of the result takes as long."""
    name = names.plain(operator.name)
    if name != "index" or len(operator.reads) < 2 or not operator.results:
        return name in _BY_CONTENT
    chosen, made = operator.reads[1].geometry, operator.results[0].geometry
    # numbers of rows give as many; a mask gives those that are true
    return chosen is not None and made is not None and made.shape[: len(chosen.shape)] != chosen.shape


def _of_all(needed: Needed, by_content: bool) -> Needed:
    return replace(needed, share=1.0) if by_content and needed.share else needed


def _selector(operators: Sequence[LookedOperator], values: Sequence[LookedValue], taker: int) -> int:
    """The view that leaves out what this operator does not take (`logits[:, -1]`), else the operator itself."""
    for read in operators[taker].reads:
        if read.value < 0 or read.geometry is None or read.geometry.distinct >= values[read.value].elements:
            continue
        seen, made_by = read.geometry, values[read.value].made_by
        for row in range(taker - 1, made_by, -1) if made_by >= 0 else ():
            views = [each for each in operators[row].results if each.value == read.value and each.geometry == seen]
            wholes = [each.geometry for each in operators[row].reads if each.value == read.value and each.geometry]
            if views and any(whole.distinct > seen.distinct for whole in wholes):
                return row
            if views and wholes:
                seen = wholes[0]
    return taker


def _places(rows: Sequence[_Row], selector: Callable[[int], int]) -> tuple[UnreadPlace, ...]:
    lines = defaultdict[tuple[int, int, bool], list[_Row]](list)
    for row in rows:
        lines[row.place, row.forward_place, row.backward].append(row)
    found = []
    for there in lines.values():
        for kind in Unread:
            wasted = _wasted(kind, there)
            if wasted and _each_time(wasted, there):
                line = _calls(wasted, there) if kind is Unread.PARTS else LineCalls()
                found.append(_place(kind, wasted, there, rows, selector, line))
            elif wasted and kind is Unread.PARTS:
                found += _by_path(kind, there, rows, selector)
    return tuple(sorted(found, key=lambda place: -place.wasted_ns))


def _wasted(kind: Unread, there: Sequence[_Row]) -> list[_Row]:
    wasted = [row for row in there if row.kind is kind and row.duration_ns]
    if kind is not Unread.RESULTS:
        return wasted
    # where a part is read another time, who read it was not seen this time
    partly = {row.name for row in there if row.kind is Unread.PARTS}
    return [row for row in wasted if row.name not in partly]


def _by_path(
    kind: Unread, there: Sequence[_Row], rows: Sequence[_Row], selector: Callable[[int], int]
) -> list[UnreadPlace]:
    """Of a line that others need the results of, what it computes for nothing where it was reached in one way."""
    paths = defaultdict[int, list[_Row]](list)
    for row in there:
        paths[row.path].append(row)
    alike = [(group, _wasted(kind, group)) for path, group in paths.items() if path >= 0]
    each_time = [(wasted, group) for group, wasted in alike if wasted and _each_time(wasted, group)]
    return [_place(kind, wasted, group, rows, selector, _calls(wasted, there)) for wasted, group in each_time]


def _calls(wasted: Sequence[_Row], there: Sequence[_Row]) -> LineCalls:
    """By the operators that run least often there. `there`: all of the line, in whichever way it was reached. Calls
    whose results were still there, hardly read, as the look was cut off are not known."""
    hardly = {row.number for row in wasted}
    cut = (row for row in there if row.cut and row.number not in hardly)
    unknown = {row.number for row in cut if row.possible.share <= _HARDLY}
    runs = defaultdict[tuple[str, int, int], list[int]](list)
    for row in there:
        if row.number not in unknown:
            runs[row.name, row.needed.made, row.iteration].append(row.number)
    alike = [rows for rows in runs.values() if not hardly.isdisjoint(rows)]
    fewest = min(alike, key=len)
    unread = [row for row in fewest if row in hardly]
    plain = {names.plain(row.name) for row in there}
    spent = sum(row.duration_ns for row in there if row.number not in unknown) * len(unread) / len(fewest)
    return LineCalls(
        calls=len(fewest),
        unread=len(unread),
        last=fewest[-len(unread) :] == unread,
        share=min(sum(row.wasted_ns for row in wasted) / spent, 1.0) if spent else 1.0,
        attends=bool(plain & names.ATTENTION) or (bool(plain & _SOFTMAX) and bool(plain & _PRODUCTS)),
    )


def _each_time(wasted: Sequence[_Row], there: Sequence[_Row]) -> bool:
    """Whether it is so in each iteration in which these operators ran, as far as one can tell. Operators of one size
    count alike: a single one takes ten times as long where another program has the core."""
    same = {row.name for row in wasted}
    lasted = defaultdict[tuple[str, int], list[int]](list)
    for row in there:
        lasted[row.name, row.needed.made].append(row.duration_ns)
    usual = {alike: round(median(each)) for alike, each in lasted.items()}
    by_iteration = defaultdict[int, list[_Row]](list)
    for row in there:
        if row.name in same:
            by_iteration[row.iteration].append(replace(row, duration_ns=usual[row.name, row.needed.made]))
    surely = [_share(rows, sure=True) for rows in by_iteration.values()]
    maybe = [_share(rows, sure=False) for rows in by_iteration.values()]
    return min(maybe) >= _ALIKE * max(surely)


def _share(rows: Sequence[_Row], sure: bool) -> float:
    time_ns = sum(row.duration_ns for row in rows)
    wasted = sum(row.duration_ns * (1 - (row.needed if sure else row.possible).share) for row in rows)
    return wasted / time_ns if time_ns else 0.0


def _place(
    kind: Unread,
    wasted: Sequence[_Row],
    there: Sequence[_Row],
    rows: Sequence[_Row],
    selector: Callable[[int], int],
    line: LineCalls,
) -> UnreadPlace:
    largest = max(wasted, key=lambda row: row.wasted_ns)
    taker = largest.needed.taken_by
    surely_ns = sum(row.wasted_ns for row in wasted)
    alike, wasted_ns, backward_ns = list(wasted), surely_ns, 0.0
    if kind is Unread.GRADIENTS:
        names_of = {row.name for row in wasted}
        alike = [row for row in there if row.name in names_of and row.possible.share <= _HARDLY]
        wasted_ns = sum(row.duration_ns * (1 - row.possible.share) for row in alike)
    elif kind is Unread.PARTS:
        back, share = _backward(wasted, there, rows)
        backward_ns = share * sum(row.duration_ns for row in back)
        alike, wasted_ns = [*wasted, *back], surely_ns + backward_ns
    return UnreadPlace(
        kind=kind,
        rows=tuple(row.number for row in alike),
        place=largest.place,
        forward_place=largest.forward_place,
        taken_at=rows[selector(taker)].place if taker >= 0 else -1,
        operator=largest.name,
        operators=len(wasted),
        elements_read=largest.needed.elements,
        elements_made=largest.needed.made,
        wasted_ns=round(wasted_ns),
        surely_ns=round(surely_ns),
        backward_ns=round(backward_ns),
        rows_ns=sum(row.duration_ns for row in alike),
        largest=largest.number,
        line=line,
    )


def _backward(wasted: Sequence[_Row], there: Sequence[_Row], rows: Sequence[_Row]) -> tuple[list[_Row], float]:
    """The operators of the line's backward passes, and which share of them multiplies by zero: that of the forward."""
    recorded_ns = sum(row.duration_ns for row in there if row.graph)
    if wasted[0].place < 0 or not recorded_ns:
        return [], 0.0
    share = sum(row.wasted_ns for row in wasted if row.graph) / recorded_ns
    line = wasted[0].place
    return [row for row in rows if row.backward and row.forward_place == line and row.needed.share > 0], share
