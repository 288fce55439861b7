"""Values that follow from what does not change while it is looked at: from weights, buffers, constants."""

from __future__ import annotations

from collections.abc import Sequence

from gpuprof.analyses.demand.looked import LookedOperator, LookedValue

Leaves = frozenset[int]

_DEEPEST = 64


class ConstantValues:
    """`random`: by operator, whether it draws random numbers."""

    def __init__(
        self, operators: Sequence[LookedOperator], values: Sequence[LookedValue], random: Sequence[bool]
    ) -> None:
        self._operators, self._values, self._random = operators, values, random
        self._known: dict[int, Leaves | None] = {}

    def leaves(self, value: int, deep: int = 0) -> Leaves | None:
        """The values from which it follows that were there when the look began, or were written to since; None where
        random numbers, or memory that nobody follows, have a part in it. What follows from the same ones by the same
        operators is the same."""
        if value < 0 or deep > _DEEPEST:
            return None
        if value not in self._known:
            self._known[value] = None
            self._known[value] = self._found(value, deep)
        return self._known[value]

    def _found(self, value: int, deep: int) -> Leaves | None:
        maker = self._values[value].made_by
        if maker < 0 or self._operators[maker].writes or self._operators[maker].backward:
            return frozenset({value})
        if self._random[maker]:
            return None
        found = set[int]()
        for each in self._operators[maker].reads:
            own = self.leaves(each.value, deep + 1)
            if own is None:
                return None
            found |= own
        return frozenset(found)
