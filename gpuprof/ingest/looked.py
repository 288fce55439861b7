"""The tables of the close look in a Trace: their names are numbered like all others of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from gpuprof.model.context import RunContext
from gpuprof.model.look import Look
from gpuprof.model.look_schema import LOOKED
from gpuprof.model.table import Array, Table


def with_look(
    tables: Mapping[str, Table], names: Sequence[str], look: Look | None
) -> tuple[dict[str, Table], tuple[str, ...]]:
    """The same tables, those of the look renumbered from the names of the Recording's look to those of the Trace; and
    the names of the Trace, those of the look added. A number that the look has no name for becomes -1."""
    if look is None or not look.names:
        return dict(tables), tuple(names)
    numbers, known = {name: number for number, name in enumerate(names)}, list(names)
    for name in look.names:
        if name not in numbers:
            numbers[name] = len(known)
            known.append(name)
    place = np.array([numbers[name] for name in look.names], np.int32)
    renumbered = {schema.name: _renumbered(tables[schema.name], place) for schema in LOOKED}
    return {**tables, **renumbered}, tuple(known)


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
