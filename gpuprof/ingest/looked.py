"""The tables of the close look in a Trace: their names are numbered like all others of it, and operators are timed
without what they waited for a core.

The look times them by the clock, in two or three iterations. Where another program has the core meanwhile, a single one
takes 10 to 100 times as long, and would outweigh all that it is compared with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from gpuprof.model.context import RunContext
from gpuprof.model.look import Look
from gpuprof.model.look_schema import LOOKED
from gpuprof.model.table import Array, Table

# times what those alike usually take: the first one on cold caches takes about that
_MOST = 3


def with_look(
    tables: Mapping[str, Table], names: Sequence[str], look: Look | None
) -> tuple[dict[str, Table], tuple[str, ...]]:
    """The same tables, those of the look renumbered from the names of the Recording's look to those of the Trace, and
    its operators without what they waited for a core (see `calm_times`); and the names of the Trace, those of the look
    added. A number that the look has no name for becomes -1."""
    if look is None or not look.names:
        return dict(tables), tuple(names)
    numbers, known = {name: number for number, name in enumerate(names)}, list(names)
    for name in look.names:
        if name not in numbers:
            numbers[name] = len(known)
            known.append(name)
    place = np.array([numbers[name] for name in look.names], np.int32)
    renumbered = {schema.name: _renumbered(tables[schema.name], place) for schema in LOOKED}
    operators, _, reads, results = (renumbered[schema.name] for schema in LOOKED)
    calm = operators.replace(duration_ns=calm_times(operators, reads, results))
    return {**tables, **renumbered, calm.schema.name: calm}, tuple(known)


def calm_times(operators: Table, reads: Table, results: Table) -> Array:
    """Durations, ns, of shape (operators,): each at most three times the usual one of the operators of its name, line
    and numbers of elements read and made. Usual is the median, of an even number the lower one of the two in the
    middle. Where there is no other operator like it, it is as it was measured."""
    duration = operators["duration_ns"]
    if not len(duration):
        return duration
    sizes = (_elements(each, len(duration)) for each in (reads, results))
    keys = np.column_stack((operators["name"], operators["place"], operators["backward"], *sizes))
    _, group = np.unique(keys, axis=0, return_inverse=True)
    group = group.reshape(-1)
    count = np.bincount(group)
    order = np.lexsort((duration, group))
    middle = np.cumsum(count) - count + (count - 1) // 2
    usual = duration[order][middle]
    calm: Array = np.minimum(duration, _MOST * usual[group])
    return calm


def _elements(tensors: Table, operators: int) -> Array:
    """Of all tensors of each operator together."""
    inside = (tensors["operator"] >= 0) & (tensors["operator"] < operators)
    summed: Array = np.zeros(operators, np.int64)
    np.add.at(summed, tensors["operator"][inside], tensors["elements"][inside])
    return summed


def without_names(context: RunContext) -> RunContext:
    """The context of a Trace, whose own names the tables of the look index."""
    if context.look is None or not context.look.names:
        return context
    return msgspec.structs.replace(context, look=msgspec.structs.replace(context.look, names=()))


def _renumbered(table: Table, place: Array) -> Table:
    columns = [column.name for column in table.schema.columns if column.unit == "index of names"]
    return table.replace(**{name: _moved(table[name], place) for name in columns}) if columns else table


def _moved(numbers: Array, place: Array) -> Array:
    known = (numbers >= 0) & (numbers < len(place))
    return np.where(known, place[np.where(known, numbers, 0)], -1)
