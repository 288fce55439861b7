"""Results that do not matter, as a factor is exactly 0 or 1: `u + 1.0 * (c - u)` is c, `loss + 0.0 * other` is loss.

Sums, differences and multiples of tensors of one shape are followed as linear combinations, and what is zero through
backward passes, which are linear in the gradient they begin with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.geometry import Geometry
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue, Taken
from gpuprof.model.kinds import ValueKind

Base = tuple[int, Geometry]
"""A value, read as a tensor that lies like that."""
_TRAINED = frozenset({ValueKind.PARAMETER, ValueKind.OPTIMIZER_STATE})
_SUMS = frozenset({"add", "sub", "rsub"})
_SAME = frozenset({"clone", "detach", "alias"})
_ZEROS = frozenset({"zeros", "zeros_like", "new_zeros", "zero"})
# zero where one of their arguments is
_PRODUCTS = frozenset({"mul", "mm", "bmm", "mv", "dot"})
# zero where the first one is
_OF_FIRST = frozenset({"sum", "neg", "div", "view", "clone", "_to_copy", "expand"})
# their first argument is not the gradient
_OTHER_ORDER = ("_cudnn", "cudnn", "miopen", "mkldnn", "lstm")
_MOST_TERMS = 16
# of the factors that are added: what rounding leaves of them
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Combination:
    """Σ factor × base; of no terms: zeros. `by`: the operator with a factor of exactly 0 or 1 in it, -1: none."""

    terms: Mapping[Base, float]
    by: int = -1


@dataclass
class Cancelled:
    """`instead`: by operator what its result follows from, where that is less than what it was computed of, and `lost`
    the values that it does not follow from. `zeros`: operators of backward passes that compute nothing but zeros. `by`:
    for all of these the operator with the factor of 0 or 1."""

    instead: dict[int, tuple[Base, ...]] = field(default_factory=dict)
    lost: dict[int, tuple[int, ...]] = field(default_factory=dict)
    zeros: set[int] = field(default_factory=set)
    by: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> Cancelled:
        """From the operators in the order in which they ran."""
        walk = _CombinationWalk(operators, values)
        for row in range(len(operators)):
            walk.step(row)
        return walk.found


class _CombinationWalk:
    def __init__(self, operators: Sequence[LookedOperator], values: Sequence[LookedValue]):
        self._operators, self._values = operators, values
        self._known: dict[Base, Combination] = {}
        # values that are zeros all over, by the operator with the factor of 0
        self._zero: dict[int, int] = {}
        self.found = Cancelled()

    def step(self, row: int) -> None:
        """Note what the operator's result consists of."""
        operator = self._operators[row]
        made = [each for each in operator.results if each.value >= 0 and self._values[each.value].made_by == row]
        if not made or len(made) != len(operator.results) or not operator.name.startswith("aten::"):
            return
        if any(self._values[each.value].kind in _TRAINED for each in made):
            # a learning rate of 0 ends a schedule, and says nothing of the gradients
            return
        if operator.backward and self._is_zero(operator):
            self._note_zeros(row, made)
            return
        if len(made) == 1 and made[0].geometry is not None and self._is_all(made[0]):
            self._note(row, operator, made[0])

    def _note(self, row: int, operator: LookedOperator, made: Taken) -> None:
        found = self._combined(row, operator, made)
        if found is None or len(found.terms) > _MOST_TERMS:
            return
        assert made.geometry is not None
        of = {base for each in operator.reads for base in self._terms(each)}
        lost = of - set(found.terms)
        if lost and found.by < 0:
            return
        self._known[made.value, made.geometry] = found
        if not found.terms and found.by >= 0:
            self._zero[made.value] = found.by
        if lost:
            self.found.instead[row], self.found.by[row] = tuple(found.terms), found.by
            self.found.lost[row] = tuple(value for value, _ in lost)

    def _note_zeros(self, row: int, made: Sequence[Taken]) -> None:
        reads = self._operators[row].reads
        by = next(self._zero[each.value] for each in reads if each.value in self._zero)
        for each in made:
            self._zero[each.value] = by
            if each.geometry is not None:
                self._known[each.value, each.geometry] = Combination({}, by)
        self.found.by[row] = by
        self.found.zeros.add(row)

    def _is_zero(self, operator: LookedOperator) -> bool:
        """Whether an operator of a backward pass makes zeros of zeros."""
        zero = [each.value in self._zero for each in operator.reads]
        name = names.plain(operator.name)
        if not any(zero) or operator.writes:
            return False
        if name in _PRODUCTS:
            return True
        ends = name.endswith(("_backward", "_backward_data")) and not name.startswith(_OTHER_ORDER)
        return zero[0] and (ends or name in _OF_FIRST)

    def _combined(self, row: int, operator: LookedOperator, made: Taken) -> Combination | None:
        name, given, reads = names.plain(operator.name), operator.arguments, operator.reads
        if name in _ZEROS:
            return Combination({})
        if given is None or not self._alike(reads, made):
            return None
        if name in _SAME and len(reads) == 1:
            return self._of(reads[0])
        if name == "neg" and len(reads) == 1:
            return _scaled(self._of(reads[0]), -1.0, -1)
        if name in ("mul", "div") and len(reads) == 1:
            factor = _number(given, 1)
            if factor is None or (name == "div" and (not factor or len(given) > 2)):
                # a rounding mode: no multiple
                return None
            factor = 1 / factor if name == "div" else factor
            return _scaled(self._of(reads[0]), factor, row if factor in (0.0, 1.0) else -1)
        if name == "lerp" and len(reads) == 2 and (weight := _number(given, 2)) is not None:
            by = row if weight in (0.0, 1.0) else -1
            return _sum(_scaled(self._of(reads[0]), 1 - weight, by), _scaled(self._of(reads[1]), weight, by))
        if name in _SUMS and len(reads) == 2 and (alpha := _number(given, 2)) is not None:
            # an alpha of 1 is what it is by default
            first, second = reads if name != "rsub" else reads[::-1]
            other = _scaled(self._of(second), alpha if name == "add" else -alpha, row if not alpha else -1)
            return _sum(self._of(first), other)
        return None

    def _alike(self, reads: Sequence[Taken], made: Taken) -> bool:
        assert made.geometry is not None
        return all(
            each.value >= 0 and each.geometry is not None and each.geometry.shape == made.geometry.shape
            for each in reads
        )

    def _of(self, taken: Taken) -> Combination:
        assert taken.geometry is not None
        base = taken.value, taken.geometry
        return self._known.get(base) or Combination({base: 1.0})

    def _terms(self, taken: Taken) -> set[Base]:
        return set() if taken.geometry is None or taken.value < 0 else set(self._of(taken).terms)

    def _is_all(self, taken: Taken) -> bool:
        """Whether the tensor has all of its storage."""
        geometry = taken.geometry
        return geometry is not None and geometry.distinct == self._values[taken.value].elements == geometry.elements


def _scaled(one: Combination, factor: float, by: int) -> Combination:
    terms = {base: value * factor for base, value in one.terms.items()} if factor else {}
    return Combination(terms, by if by >= 0 else one.by)


def _sum(one: Combination, other: Combination) -> Combination:
    terms = dict(one.terms)
    for base, factor in other.terms.items():
        before = terms.get(base, 0.0)
        terms[base] = before + factor
        if abs(terms[base]) <= _ROUNDING * max(abs(before), abs(factor)):
            del terms[base]
    return Combination(terms, one.by if one.by >= 0 else other.by)


def _number(arguments: Sequence[object], at: int) -> float | None:
    found = arguments[at] if at < len(arguments) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
