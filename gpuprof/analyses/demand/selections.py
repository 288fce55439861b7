"""Operators that take no element of one of their arguments, since a mask selects none of it.

`torch.where(done, pad, token)` takes nothing of `token` where all are done. A mask stays as it is where a loop only
ever adds to it (`done |= token == end`) and there is nothing left to add.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuprof.analyses.demand import operator_names as names
from gpuprof.analyses.demand.looked import LookedOperator, LookedValue

_ORS = frozenset({"bitwise_or", "logical_or"})
_ANDS = frozenset({"bitwise_and", "logical_and"})
_FILLS = frozenset({"masked_fill", "index_put"})
_TESTS = frozenset({"all", "any"})
# how far a mask is followed back to the flags that it is made of
_MOST_STEPS = 6


@dataclass(frozen=True)
class Selection:
    """One operator and the reads, by position, of which it takes nothing: `mask` is the value that decides. `lasting`:
    that mask cannot change any more; `tested`: the program looks whether all of it is decided."""

    unread: tuple[int, ...]
    mask: int
    lasting: bool = False
    tested: bool = False


def selections(operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> dict[int, Selection]:
    """By the row of the operator. Those of backward passes are left out."""
    found = dict[int, Selection]()
    masks = _Masks(operators, values)
    for row, operator in enumerate(operators):
        if operator.backward or any(each.value < 0 for each in operator.reads):
            continue
        one = _unread(operator, values, masks)
        if one is not None:
            found[row] = one
    if not found:
        return {}
    flags = _Flags(operators, values)
    return {row: Selection(one.unread, one.mask, *flags.state(masks.of_mask(one.mask))) for row, one in found.items()}


class _Masks:
    def __init__(self, operators: Sequence[LookedOperator], values: Sequence[LookedValue]):
        self._operators, self._values = operators, values

    def of_mask(self, value: int) -> Iterator[int]:
        """It, and what it alone is made of, step by step: `done` of `(~done).float()`."""
        for _ in range(_MOST_STEPS):
            yield value
            made_by = self._values[value].made_by
            if made_by < 0:
                return
            maker = self._operators[made_by]
            if len(maker.reads) != 1 or maker.reads[0].value < 0 or maker.writes:
                return
            if names.plain(maker.name) not in names.ELEMENTWISE:
                return
            value = maker.reads[0].value

    def is_mask(self, value: int) -> bool:
        """Whether it is of flags or whole numbers, or made of such alone."""
        return any(self._values[each].whole for each in self.of_mask(value))


def _unread(operator: LookedOperator, values: Sequence[LookedValue], masks: _Masks) -> Selection | None:
    plain, read = names.plain(operator.name), [each.value for each in operator.reads]
    zeros = [values[each].zeros_share for each in read]
    if plain == "where" and len(read) == 3 and zeros[0] in (0, 1):
        return Selection((2,) if zeros[0] == 0 else (1,), read[0])
    if plain == "masked_fill" and len(read) in (2, 3) and zeros[1] in (0, 1):
        if zeros[1] == 0:
            return Selection((0,), read[1])
        return Selection((2,), read[1]) if len(read) == 3 else None
    if plain == "index_put" and len(read) == 3 and values[read[1]].whole and zeros[1] in (0, 1):
        return _put(operator, read[1], none=zeros[1] == 1)
    if len(read) != 2:
        return None
    decides = {"mul": 1.0, **dict.fromkeys(_ORS, 0.0), **dict.fromkeys(_ANDS, 1.0)}.get(plain)
    deciding = [at for at in (0, 1) if zeros[at] == decides and masks.is_mask(read[at])]
    if not deciding:
        return None
    # of two the one that is known first
    at = min(deciding, key=lambda each: values[read[each]].made_by)
    return Selection((1 - at,), read[at])


def _put(operator: LookedOperator, mask: int, *, none: bool) -> Selection | None:
    if none:
        return Selection((2,), mask)
    whole, chosen = (each.geometry for each in operator.reads[:2])
    # rows of a mask that is true everywhere are all of it
    covers = whole is not None and chosen is not None and whole.shape[: len(chosen.shape)] == chosen.shape
    return Selection((0,), mask) if covers else None


class _Flags:
    """Flags that a loop only ever sets, or only ever clears."""

    def __init__(self, operators: Sequence[LookedOperator], values: Sequence[LookedValue]):
        self._operators, self._values = operators, values
        self._final = set[int]()
        self._of_loop = set[int]()
        self._tested = set[int]()
        for rows in self._repeated().values():
            self._note(rows)
        masks = _Masks(operators, values)
        for operator in operators:
            if names.plain(operator.name) in _TESTS and self._leaves_torch(operator):
                read = (taken.value for taken in operator.reads if taken.value >= 0)
                self._tested |= {each for value in read for each in masks.of_mask(value)}

    def state(self, mask: Iterator[int]) -> tuple[bool, bool]:
        """Whether it cannot change any more, and whether the program tests it."""
        made_of = list(mask)
        lasting = any(each in self._final for each in made_of)
        return lasting, lasting and any(each in self._tested for each in (*made_of, *self._of_loop_with(made_of)))

    def _of_loop_with(self, made_of: Sequence[int]) -> set[int]:
        return self._of_loop if self._of_loop & set(made_of) else set()

    def _repeated(self) -> Mapping[tuple[str, int], list[int]]:
        """Operators by name and number of elements that set or clear flags which another run of theirs has made."""
        by_name = defaultdict[tuple[str, int], list[int]](list)
        for row, operator in enumerate(self._operators):
            if names.plain(operator.name) in _ORS | _ANDS | _FILLS | {"mul"} and operator.results and operator.reads:
                by_name[operator.name, operator.results[0].elements].append(row)
        return by_name

    def _note(self, rows: Sequence[int]) -> None:
        made = {each.value for row in rows for each in self._operators[row].results}
        read = {each.value for row in rows for each in self._operators[row].reads}
        # flags that are set at one time and cleared at another are not decided
        turned = [
            self._filled_with(self._operators[row])
            for row in rows
            if self._operators[row].reads[0].value in made
            or read & {each.value for each in self._operators[row].results}
        ]
        both_ways = len(set(turned)) > 1
        for row in rows:
            operator = self._operators[row]
            results = {each.value for each in operator.results}
            for at, taken in enumerate(operator.reads):
                state = taken.value
                # it reads what another one has made, or makes what another one reads
                if state >= 0 and (state in made or results & read) and self._values[state].whole:
                    self._of_loop |= {state, *results}
                    if self._stays(operator, at) and not (both_ways and names.plain(operator.name) in _FILLS):
                        self._final |= {state, *results}

    def _stays(self, operator: LookedOperator, at: int) -> bool:
        """Whether the flags that it reads there have nothing left to set, or to clear."""
        zeros = self._values[operator.reads[at].value].zeros_share
        plain = names.plain(operator.name)
        if plain in _ORS:
            return zeros == 0
        if plain in _ANDS or plain == "mul":
            return zeros == 1
        return at == 0 and self._filled_with(operator) == (zeros == 0) and zeros in (0, 1)

    def _filled_with(self, operator: LookedOperator) -> bool | None:
        """Whether flags are set (else cleared) by an operator that fills; None where that is not known."""
        if names.plain(operator.name) not in _FILLS:
            return None
        if len(operator.reads) == 3:
            zeros = self._values[operator.reads[2].value].zeros_share
            return {0.0: True, 1.0: False}.get(zeros)
        given = operator.arguments[2] if operator.arguments is not None and len(operator.arguments) > 2 else None
        return bool(given) if isinstance(given, int | float) else None

    def _leaves_torch(self, operator: LookedOperator) -> bool:
        return any(each.value >= 0 and self._values[each.value].read_outside for each in operator.results)
