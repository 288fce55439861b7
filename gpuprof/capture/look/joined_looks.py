"""Several looks of one cell as one: training steps, and the evaluation between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.capture.look.operator_log import Names
from gpuprof.model.look import Look, LookedPlace, LookPart
from gpuprof.model.table import Array, Table

# of the operators of its iterations: a look that saw fewer says nothing of shares, and would spoil what others say
_WHOLE = 0.8


class TakenLook(NamedTuple):
    """One look, with its four tables."""

    tables: tuple[Table, ...]
    look: Look

    @property
    def whole(self) -> bool:
        """Whether it saw whole iterations."""
        share = self.look.operators_share
        return share is not None and share >= _WHOLE


def joined(taken: Sequence[TakenLook]) -> TakenLook:
    """Those that saw whole iterations, in the order given, as one; the one with most operators where none did.

    Numbers of operators, values, storages, names, places and iterations go on from one to the next, so that nothing of
    two looks is ever the same value.
    """
    whole = [each for each in taken if each.whole]
    if not whole:
        return max(taken, key=lambda each: len(each.tables[0]) if each.tables else 0)
    if len(whole) == 1:
        return whole[0]
    names, places, paths = Names(), dict[LookedPlace, int](), dict[tuple[int, ...], int]()
    parts, tables = list[LookPart](), list[tuple[Table, ...]]()
    operators = values = storages = iterations = 0
    for number, (each, look) in enumerate(whole):
        name = np.array([names.number(text) for text in look.names], np.int64)
        place = np.array([places.setdefault(found, len(places)) for found in look.places], np.int64)
        ways = [tuple(place[list(chain)].tolist()) for chain in look.paths]
        path = np.array([paths.setdefault(chain, len(paths)) for chain in ways], np.int64)
        offsets = _Offsets(name, place, path, operators, values, storages, iterations, number)
        tables.append(offsets.applied(each))
        parts.append(LookPart(iterations=look.iterations, first_iteration=iterations, ended_by=look.ended_by))
        operators, values = operators + len(each[0]), values + len(each[1])
        storages += 1 + int(each[1]["storage"].max(initial=0))
        iterations += 1 + max(int(each[0]["iteration"].max(initial=0)), look.iterations)
    looks = [each.look for each in whole]
    slowdowns = [each.subnormal_slowdown for each in looks if each.subnormal_slowdown is not None]
    return TakenLook(
        tuple(_stacked([each[kind] for each in tables]) for kind in range(len(tables[0]))),
        Look(
            iterations=sum(look.iterations for look in looks),
            start_ns=min(look.start_ns for look in looks),
            end_ns=max(look.end_ns for look in looks),
            operators_share=min(look.operators_share or 0.0 for look in looks),
            ended_by=looks[0].ended_by,
            cost_ns=sum(look.cost_ns for look in looks),
            fingerprinted_share=min(look.fingerprinted_share for look in looks),
            places=tuple(places),
            paths=tuple(paths),
            subnormal_slowdown=max(slowdowns, default=None),
            unseen_writes=sum(look.unseen_writes for look in looks),
            names=names.all,
            parts=tuple(parts),
        ),
    )


class _Offsets(NamedTuple):
    """What numbers of one look become."""

    name: Array
    place: Array
    path: Array
    operators: int
    values: int
    storages: int
    iterations: int
    look: int

    def applied(self, tables: tuple[Table, ...]) -> tuple[Table, ...]:
        operators, values, reads, results = tables
        return (
            operators.replace(
                look=np.full(len(operators), self.look),
                path=_mapped(operators["path"], self.path),
                iteration=_moved(operators["iteration"], self.iterations),
                forward_operator=_moved(operators["forward_operator"], self.operators),
                **{each: _mapped(operators[each], self.name) for each in ("name", "arguments", "optimizer")},
                **{each: _mapped(operators[each], self.place) for each in ("place", "forward_place", "called_at")},
            ),
            values.replace(
                storage=_moved(values["storage"], self.storages),
                made_by=_moved(values["made_by"], self.operators),
                gone_at=_moved(values["gone_at"], self.operators),
                **{each: _mapped(values[each], self.name) for each in ("dtype", "shape", "device")},
            ),
            *(self._sided(each) for each in (reads, results)),
        )

    def _sided(self, table: Table) -> Table:
        return table.replace(
            operator=_moved(table["operator"], self.operators),
            value=_moved(table["value"], self.values),
            **{each: _mapped(table[each], self.name) for each in ("shape", "geometry")},
        )


def _moved(numbers: Array, by: int) -> Array:
    moved: Array = np.where(numbers >= 0, numbers + by, numbers)
    return moved


def _mapped(numbers: Array, to: Array) -> Array:
    """-1 stays what it is."""
    mapped: Array = np.append(to, -1)[numbers]
    return mapped


def _stacked(tables: Sequence[Table]) -> Table:
    schema = tables[0].schema
    columns = {each.name: np.concatenate([table[each.name] for table in tables]) for each in schema.columns}
    return Table(schema, columns)
