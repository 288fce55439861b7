"""What the operators of a look read and made, row by row, and the tables of it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from gpuprof.capture.look.left_out import LeftOutCounter
from gpuprof.capture.look.values import Values, stored_as
from gpuprof.model.look_schema import LOOKED_OPERATORS, LOOKED_READS, LOOKED_RESULTS, LOOKED_VALUES
from gpuprof.model.table import Table, TableSchema

_LONGEST_LIST = 20
# what stands for a tensor among the arguments
TENSOR = "\0tensor"
_PLAIN = (int, str, type(None))


class Names:
    """Numbers names from 0."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        """The number of a name."""
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def all(self) -> tuple[str, ...]:
        """Every name, by number."""
        return tuple(self._numbers)


class OperatorLog:
    """Rows of all four tables, and what they have in common: names, views, arguments. `left_out` counts what the last
    column of an operator has."""

    def __init__(self) -> None:
        self.names = Names()
        self.left_out = LeftOutCounter()
        self.operators: list[tuple[Any, ...]] = []
        self.reads: list[tuple[int, ...]] = []
        self.results: list[tuple[int, ...]] = []
        self._sparse_views: dict[tuple[Any, ...], int] = {}
        self._views: dict[tuple[Any, ...], tuple[int, int, int]] = {}
        self._arguments: dict[tuple[Any, ...], tuple[int, int]] = {}

    def count(self) -> int:
        """How many operators have run."""
        return len(self.operators)

    def seen(self, tensor: Any, value: int) -> tuple[int, int, int, int, int]:
        """`(value, elements, view, shape, geometry)` of a tensor that an operator reads or returns."""
        if value < 0:
            stored = stored_as(tensor)
            return (-1, -1, 0, -1, -1 if stored is None else self.names.number(stored))
        shape, strides = tuple(tensor.shape), tensor.stride()
        key = (tensor.storage_offset(), shape, strides, tensor.dtype, tensor.is_conj(), tensor.is_neg())
        view = self._views.get(key)
        if view is None:
            geometry = self.names.number(f"{key[0]} {strides}")
            view = self._views[key] = (_hashed(key), self.names.number(str(list(shape))), geometry)
        return (value, tensor.numel(), *view)

    def seen_in_parts(self, tensor: Any) -> tuple[int, int, int, int, int]:
        """The same of a sparse tensor whose parts are told in rows of their own; its view says how they lie."""
        value, elements, _, shape, geometry = self.seen(tensor, -1)
        key = (str(tensor.layout), tuple(tensor.shape), tensor.dense_dim(), _is_coalesced(tensor))
        view = self._sparse_views.setdefault(key, _hashed(key) or 1)
        return (value, elements, view, shape, geometry)

    def arguments(self, scalars: tuple[Any, ...]) -> tuple[int, int]:
        """`(hash, text)` of arguments: names and values in turn, in the schema's order."""
        try:
            known = self._arguments.get(scalars)
        except TypeError:  # something that has no hash: told by its text alone
            return self._described(scalars)
        if known is None:
            known = self._arguments[scalars] = self._described(scalars)
        return known

    def tables(self, values: Values) -> tuple[Table, ...]:
        """The four tables; reads fingerprints and counts back from devices."""
        values.end()
        operators = [(*row, self.left_out.told(left)) for *row, left in self.operators]
        return (
            _table(LOOKED_OPERATORS, operators),
            _table(LOOKED_VALUES, values.rows),
            _table(LOOKED_READS, self.reads),
            _table(LOOKED_RESULTS, self.results),
        )

    def _described(self, scalars: tuple[Any, ...]) -> tuple[int, int]:
        return _hashed(scalars), self.names.number(json.dumps([_jsonable(each) for each in scalars]))


def frozen(value: Any) -> Any:
    """An argument without its tensors, that can be a key: 1, 1.0 and True are three."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is list or kind is tuple:
        return tuple(frozen(each) for each in value)
    if kind is bool or kind is float or kind is complex:
        return (kind, repr(value))
    if hasattr(value, "untyped_storage"):
        return TENSOR
    # a storage is a sequence, and its text is all of its bytes
    return (kind, str(id(value)) if hasattr(value, "__len__") else str(value))


def _is_coalesced(tensor: Any) -> bool:
    return bool(tensor.is_sparse and tensor.is_coalesced())


def _jsonable(value: Any) -> Any:
    """As JSON has it: numbers as they are, dtypes and the like as text."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type):
        kind, text = value
        if kind is bool:
            return text == "True"
        return float(text) if kind is float and text not in ("inf", "-inf", "nan") else text
    if isinstance(value, tuple):
        return [_jsonable(each) for each in value] if len(value) <= _LONGEST_LIST else None
    return None if value == TENSOR else value


def _hashed(key: object) -> int:
    return int.from_bytes(hashlib.blake2b(repr(key).encode(), digest_size=8).digest(), "little", signed=True)


def _table(schema: TableSchema, rows: list[Any]) -> Table:
    if not rows:
        return Table(schema)
    columns = zip(*rows, strict=True)
    return Table(
        schema,
        {column.name: np.array(values, column.dtype) for column, values in zip(schema.columns, columns, strict=True)},
    )
