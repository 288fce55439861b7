"""Gradients of a model that pile up: backward adds to them, nothing reads them, and no optimizer steps any more.

An attack on a model, or a picture that is made to please one, needs the gradient of its input. `loss.backward()` fills
those of all weights as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from gpuprof.analyses.demand.looked import LookedOperator, LookedValue
from gpuprof.model.context import Optimizer
from gpuprof.model.kinds import ValueKind
from gpuprof.model.trace import Trace

_FEWEST_WRITES = 2  # in a look: that it goes on is no chance then


def piled_up(trace: Trace, operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> set[int]:
    """Storages of such gradients; none where the passes that fill them make nothing else that is read: then they are
    summed up for later."""
    look = trace.context.look
    if look is None or any(_goes_on(each, look.end_ns) for each in trace.context.optimizers):
        return set()
    later = operators[_last_update(values) + 1 :]
    filled = filled_gradients(later, values)
    return filled if filled and _read_otherwise(later, operators, values, filled) else set()


def _goes_on(optimizer: Optimizer, end_ns: int) -> bool:
    return bool(optimizer.steps) and (optimizer.last_step_ns is None or optimizer.last_step_ns > end_ns)


def _last_update(values: Sequence[LookedValue]) -> int:
    """The last operator that changes a weight; -1 where none does."""
    return max((each.made_by for each in values if each.kind is ValueKind.PARAMETER), default=-1)


def filled_gradients(operators: Sequence[LookedOperator], values: Sequence[LookedValue]) -> set[int]:
    """Storages of gradients that backward passes alone read and write."""
    writes = defaultdict[int, int](int)
    others = {value.storage for value in values if value.read_outside}
    for operator in operators:
        written = {values[taken.value].storage for taken in operator.results if taken.value >= 0}
        read = {values[taken.value].storage for taken in operator.reads if taken.value >= 0}
        for taken in operator.results:
            if taken.value >= 0 and values[taken.value].kind is ValueKind.GRADIENT:
                writes[values[taken.value].storage] += 1
        others |= read - written if operator.backward else written | read
    found = {storage for storage, count in writes.items() if count >= _FEWEST_WRITES}
    return found - others


def _read_otherwise(
    later: Sequence[LookedOperator],
    operators: Sequence[LookedOperator],
    values: Sequence[LookedValue],
    filled: set[int],
) -> bool:
    """Whether something else that a backward pass made is read outside of it."""
    for operator in later:
        if operator.backward:
            continue
        for taken in operator.reads:
            value = values[taken.value] if taken.value >= 0 else None
            if value is None or value.made_by < 0 or value.storage in filled:
                continue
            if operators[value.made_by].backward:
                return True
    return False
