"""Attention that the close look has seen written out: product, softmax, product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from gpuprof.analyses.basics.result import Array, Result, Results
from gpuprof.analyses.dataflow.looked_lines import LookedLines, UserLine
from gpuprof.analyses.dataflow.value_graph import weighed_operators
from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken, operators_of, values_of
from gpuprof.analyses.loops.written_loops import notebook_sources
from gpuprof.model.trace import Trace

_SOFTMAX = frozenset(("_softmax", "_safe_softmax", "softmax"))
_PRODUCTS = frozenset(("bmm", "baddbmm", "mm"))
_DROPOUT = frozenset(("native_dropout", "bernoulli"))
_CONVERSIONS = frozenset(("_to_copy", "clone", "copy"))
# scale, bias and masks on the way from the first product to the softmax: one call can express no other
_ON_SCORES = _CONVERSIONS | {"add", "sub", "mul", "div", "masked_fill", "where", "rsub"}
_MOST_STEPS = 8
# a mask is drawn, and divided by the share that stays
_MOST_MASK_STEPS = 3
_MODULE = "MultiheadAttention"


@dataclass(frozen=True, eq=False)
class WrittenOut:
    """Attention of one user's line: the line of its softmax, `place`.

    `places`: rows of the looked places of its operators; `rows`: those of looked_operators at these lines, and of the
    backward passes that they lead to, which read or make a tensor of the scores' size. `shape`: of the largest scores,
    each a product of `width` numbers.
    `times`: how often it was seen. `dropout`: weights are left out at random. `bias_learned`: something that autograd
    follows is added to the scores. `weights_read`: something beside the second product reads the weights, or changes
    them before. `in_module`: it is torch's own module that writes it out, by the text. `share`: of the time of all
    operators, what `rows` take, 0..1; no row is in two.
    """

    place: int
    places: tuple[int, ...]
    rows: Array
    shape: tuple[int, ...]
    width: int
    times: int
    dropout: bool
    bias_learned: bool
    weights_read: bool
    in_module: bool = False
    share: float = 0.0


@dataclass(frozen=True, eq=False)
class WrittenAttention(Result):
    """`found`, the ones with most time first."""

    found: tuple[WrittenOut, ...] = field(default=())

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the operators between two products, and the softmax among them."""
        operators, values = operators_of(trace), values_of(trace)
        if not any(names.plain(each.name) in _SOFTMAX for each in operators):
            return cls()
        table = weighed_operators(trace, results)
        place = table["place"].tolist()
        by_line = defaultdict[int, list[_Attention]](list)
        paths = _ScorePaths(operators, values)
        for row, operator in enumerate(operators):
            if not operator.backward and place[row] >= 0 and names.plain(operator.name) in _SOFTMAX:
                attention = paths.around(row)
                if attention is not None:
                    by_line[place[row]].append(attention)
        lines = _ScoreLines(operators, table["place"], table["forward_place"], table["backward"])
        spent, texts = table["duration_ns"], results.get(LookedLines)
        found = [
            replace(lines.written_out(at, each), in_module=_in_module(trace, texts.line(at)))
            for at, each in by_line.items()
        ]
        found.sort(key=lambda each: -int(spent[each.rows].sum()))
        return cls(_apart(found, spent))


def _apart(found: Sequence[WrittenOut], spent: Array) -> tuple[WrittenOut, ...]:
    """Each without the rows of those before it."""
    parts, claimed, whole = list[WrittenOut](), np.zeros(len(spent), bool), max(int(spent.sum()), 1)
    for each in found:
        rows = each.rows[~claimed[each.rows]]
        claimed[rows] = True
        parts.append(replace(each, rows=rows, share=float(spent[rows].sum()) / whole))
    return tuple(parts)


@dataclass(frozen=True)
class _Attention:
    """`rows`: its operators from the first product to the second."""

    rows: tuple[int, ...]
    scores: Taken
    width: int
    dropout: bool
    bias_learned: bool
    read: bool


class _ScorePaths:
    def __init__(self, operators: Sequence[LookedOperator], values: Sequence[LookedValue]):
        self._operators, self._values = operators, values
        self._readers = defaultdict[int, list[int]](list)
        for row, operator in enumerate(operators):
            for value in {each.value for each in operator.reads} - {-1}:
                self._readers[value].append(row)

    def around(self, softmax: int) -> _Attention | None:
        """What leads from a product to that softmax and on to another product; None where nothing does."""
        operator = self._operators[softmax]
        if not operator.reads or not operator.results or operator.reads[0].geometry is None:
            return None
        scores = operator.reads[0]
        before = self._before(scores)
        width = self._width(before[0]) if before is not None else None
        if before is None or width is None:
            return None
        after = self._after(operator.results[0].value)
        if after is None:
            return None
        rows, dropout, read = after
        read = read or self._values[operator.results[0].value].read_outside
        learned = any(each.grad for row in before[1:] for each in self._operators[row].reads[1:])
        return _Attention((*before, softmax, *rows), scores, width, dropout, learned, read)

    def _width(self, product: int) -> int | None:
        """How many numbers go into each score."""
        operator = self._operators[product]
        at = names.PRODUCTS[names.plain(operator.name)]
        first = operator.reads[at].geometry if at < len(operator.reads) else None
        return None if first is None or not first.shape else first.shape[-1]

    def _before(self, scores: Taken) -> list[int] | None:
        """From the first product on."""
        found = list[int]()
        value, elements = scores.value, scores.elements
        for _ in range(_MOST_STEPS):
            row = self._values[value].made_by if value >= 0 else -1
            if row < 0 or self._operators[row].backward:
                return None
            operator = self._operators[row]
            found.append(row)
            if names.plain(operator.name) in _PRODUCTS:
                return found[::-1]
            given = [each for each in operator.reads if each.elements == elements]
            if names.plain(operator.name) not in _ON_SCORES or not given:
                return None
            value = given[0].value
        return None

    def _after(self, weights: int) -> tuple[list[int], bool, bool] | None:
        """On to the second product: its operators, whether some are left out at random, and whether others read."""
        found, dropout, others, product = list[int](), False, False, False
        waiting, seen = [weights], {weights}
        for _ in range(_MOST_STEPS):
            if not waiting:
                break
            value = waiting.pop()
            for row in self._readers.get(value, ()):
                operator = self._operators[row]
                name = names.plain(operator.name)
                made = [each.value for each in operator.results if each.value >= 0]
                if operator.backward or value in made:
                    continue
                if name in _PRODUCTS:
                    found.append(row)
                    # weights that several products share are made once; one call would make them for each
                    others, product = others or product, True
                elif name in names.ELEMENTWISE or name in _DROPOUT:
                    others_read = [each.value for each in operator.reads if each.value != value]
                    drops = name in _DROPOUT or any(map(self._is_random, others_read))
                    dropout, others = dropout or drops, others or not (drops or name in _CONVERSIONS)
                    found.append(row)
                    waiting += [each for each in made if each not in seen]
                    seen.update(made)
                else:
                    others = others or any(self._is_read(each) for each in made)
        return (found, dropout, others) if product else None

    def _is_random(self, value: int) -> bool:
        """On the CPU dropout multiplies by a random mask."""
        for _ in range(_MOST_MASK_STEPS):
            row = self._values[value].made_by if value >= 0 else -1
            if row < 0:
                return False
            operator = self._operators[row]
            if names.plain(operator.name) in _DROPOUT:
                return True
            value = operator.reads[0].value if operator.reads else -1
        return False

    def _is_read(self, value: int) -> bool:
        """Whether a forward operator or code outside of torch reads it."""
        return self._values[value].read_outside or any(
            not self._operators[row].backward for row in self._readers.get(value, ())
        )


class _ScoreLines:
    """Finds all operators that work on scores."""

    def __init__(self, operators: Sequence[LookedOperator], place: Array, forward_place: Array, backward: Array):
        self._operators = operators
        self._at = np.where(backward, forward_place, place)

    def written_out(self, place: int, found: Sequence[_Attention]) -> WrittenOut:
        """All that was seen of one line's softmax."""
        places = {int(self._at[row]) for each in found for row in each.rows} - {-1}
        sizes = {each.scores.elements for each in found}
        there = np.flatnonzero(np.isin(self._at, list(places)))
        rows = [int(row) for row in there if self._touches(int(row), sizes)]
        largest = max((each.scores for each in found), key=lambda each: each.elements)
        return WrittenOut(
            place=place,
            places=tuple(sorted(places)),
            rows=np.array(rows, np.int64),
            shape=() if largest.geometry is None else largest.geometry.shape,
            width=max(each.width for each in found),
            times=len(found),
            dropout=any(each.dropout for each in found),
            bias_learned=any(each.bias_learned for each in found),
            weights_read=any(each.read for each in found),
        )

    def _touches(self, row: int, sizes: Iterable[int]) -> bool:
        operator = self._operators[row]
        return any(each.elements in sizes for each in (*operator.reads, *operator.results))


def _in_module(trace: Trace, line: UserLine | None) -> bool:
    """Whether the line calls a module of torch: one that writes attention out names its softmax."""
    sources = dict(notebook_sources(trace))
    if line is None or not any(_MODULE in text for text in sources.values()):
        return False
    lines = sources.get("" if line.in_cell else line.file, "").splitlines()
    return not 0 < line.line <= len(lines) or "softmax" not in lines[line.line - 1]
