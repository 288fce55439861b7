"""Sums in which a term cancels, or is multiplied by zero: they hold what the other terms hold, up to rounding.

`a + 1.0 * (b - a)` is b, whatever a is; a model that computes a runs for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.geometry import Geometry
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken

# a coefficient that small is what rounding leaves
_NOTHING = 1e-9
_MOST_TERMS = 8
_SUMS = frozenset({"add", "sub", "rsub", "mul", "div", "neg", "lerp"})
_Term = tuple[int, Geometry]


@dataclass(frozen=True)
class _Sum:
    """A tensor as a sum of others of its shape, each with its coefficient; `met`: all that entered it, those that have
    cancelled as well."""

    terms: Mapping[_Term, float]
    met: frozenset[_Term]

    def times(self, factor: float) -> _Sum:
        return _Sum({term: factor * each for term, each in self.terms.items()}, self.met).cleared()

    def plus(self, other: _Sum) -> _Sum:
        terms = dict(self.terms)
        for term, each in other.terms.items():
            terms[term] = terms.get(term, 0.0) + each
        return _Sum(terms, self.met | other.met).cleared()

    def cleared(self) -> _Sum:
        """Without terms of no weight."""
        return _Sum({term: each for term, each in self.terms.items() if abs(each) > _NOTHING}, self.met)


def cancelled_terms(
    operators: Sequence[LookedOperator], values: Sequence[LookedValue]
) -> Mapping[int, tuple[Taken, ...]]:
    """By operator whose result needs less than it reads: the tensors that it consists of, one at least."""
    sums, found = dict[_Term, _Sum](), dict[int, tuple[Taken, ...]]()
    for row, operator in enumerate(operators):
        made = operator.results[0] if len(operator.results) == 1 else None
        if made is None or made.geometry is None or made.value < 0 or values[made.value].made_by != row:
            continue
        whole = made.geometry.elements == values[made.value].elements
        result = _sum_of(operator, sums, made.geometry.shape) if whole and not operator.backward else None
        if result is None or len(result.met) > _MOST_TERMS:
            continue
        sums[made.value, made.geometry] = result
        if result.terms and result.met - result.terms.keys():
            found[row] = tuple(Taken(value, where.elements, where) for value, where in result.terms)
    return MappingProxyType(found)


def is_part_of_sums(name: str) -> bool:
    """Whether an operator of that name may be of the sum itself, and not compute a term of it."""
    return names.plain(name) in _SUMS


def _sum_of(operator: LookedOperator, sums: Mapping[_Term, _Sum], shape: tuple[int, ...]) -> _Sum | None:
    """None for what is no sum of tensors of one shape."""
    plain, given = names.plain(operator.name), operator.arguments
    if plain not in _SUMS or given is None:
        return None
    sides = list[_Sum]()
    for taken in operator.reads:
        if taken.geometry is None or taken.value < 0 or taken.geometry.shape != shape:
            return None
        term = taken.value, taken.geometry
        sides.append(sums.get(term) or _Sum({term: 1.0}, frozenset({term})))
    if plain in ("add", "sub", "rsub"):
        return _added(plain, sides, given)
    if plain in ("mul", "div") and len(sides) == 1 and len(given) > 1:
        factor = _number(given[1])
        if factor is None or (plain == "div" and (not factor or len(given) > 2)):
            return None
        return sides[0].times(1 / factor if plain == "div" else factor)
    if plain == "neg" and len(sides) == 1:
        return sides[0].times(-1.0)
    if plain == "lerp" and len(sides) == 2 and len(given) > 2:
        weight = _number(given[2])
        return None if weight is None else sides[0].times(1 - weight).plus(sides[1].times(weight))
    return None


def _added(plain: str, sides: Sequence[_Sum], given: Sequence[Any]) -> _Sum | None:
    alpha = _number(given[2]) if len(given) > 2 else 1.0
    if len(sides) != 2 or alpha is None:
        return None
    first, second = (sides[1], sides[0]) if plain == "rsub" else (sides[0], sides[1])
    return first.plus(second.times(alpha if plain == "add" else -alpha))


def _number(given: Any) -> float | None:
    return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else None
