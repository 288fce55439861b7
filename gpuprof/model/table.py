"""A small columnar table: named numpy arrays of one length, held to a declared schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Column:
    """One column: its numpy dtype, its unit (`ns`, `bytes`, `row of launches`, …) and what it means."""

    name: str
    dtype: str
    unit: str
    meaning: str

    @property
    def missing(self) -> Any:
        """What stands for *unknown*: NaN for floats, -1 for integers, False for booleans, 0 for vocabularies."""
        return {"f": np.nan, "b": False, "u": 0}.get(np.dtype(self.dtype).kind, -1)


@dataclass(frozen=True)
class TableSchema:
    """The columns of one table and what one row of it is."""

    name: str
    row: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column:
        """The column of that name; KeyError where there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name}")


class Table:
    """Columns by name, all of one length, in the schema's order and dtypes.

    Columns left out are filled with their *missing* value. Arrays are read-only: a Trace never changes.
    `table["start_ns"]` is a column, `len(table)` the number of rows.
    """

    def __init__(self, schema: TableSchema, columns: Mapping[str, npt.ArrayLike] | None = None):
        given = dict(columns or {})
        unknown = set(given) - {column.name for column in schema.columns}
        if unknown:
            raise KeyError(f"table {schema.name} has no column {', '.join(sorted(unknown))}")
        lengths = {len(np.atleast_1d(np.asarray(values))) for values in given.values()}
        if len(lengths) > 1:
            raise ValueError(f"table {schema.name}: columns of different lengths {sorted(lengths)}")
        self.schema = schema
        self.rows = lengths.pop() if lengths else 0
        self._columns: dict[str, Array] = {}
        self._origin: tuple[Table, Array] | None = None
        for column in schema.columns:
            if column.name in given:
                values = np.atleast_1d(np.asarray(given[column.name])).astype(column.dtype, copy=False)
            else:
                values = np.full(self.rows, column.missing, dtype=column.dtype)
            self._columns[column.name] = _read_only(values)

    def __getitem__(self, name: str) -> Array:
        if self._origin is not None and name not in self._columns:
            table, rows = self._origin
            self._columns[name] = _read_only(table[name][rows])
        return self._columns[name]

    def __len__(self) -> int:
        return self.rows

    def __bool__(self) -> bool:
        return self.rows > 0

    def __repr__(self) -> str:
        return f"<Table {self.schema.name}: {self.rows} rows>"

    def take(self, rows: Array | slice) -> Table:
        """The chosen rows (an index array, a slice, or a boolean mask of shape `(len(self),)`) as a new table.

        A column is copied when it is asked for: most are not.
        """
        if isinstance(rows, slice):
            rows = np.arange(self.rows)[rows]
        chosen = np.atleast_1d(np.asarray(rows))
        if chosen.dtype == bool:
            if chosen.shape != (self.rows,):
                raise IndexError(f"table {self.schema.name}: a mask of shape {chosen.shape} for {self.rows} rows")
            chosen = np.flatnonzero(chosen)
        elif len(chosen) and not -self.rows <= int(chosen.min()) <= int(chosen.max()) < self.rows:
            raise IndexError(f"table {self.schema.name} has {self.rows} rows, and not the one that was asked for")
        taken = Table(self.schema)
        taken.rows, taken._columns = len(chosen), {}
        taken._origin = self, chosen if len(chosen) else np.empty(0, np.intp)
        return taken

    def replace(self, **columns: npt.ArrayLike) -> Table:
        """The same table with some columns exchanged; each of shape `(len(self),)`."""
        return Table(self.schema, self._all() | columns)

    def to_dict(self) -> dict[str, list[Any]]:
        """Columns as lists, for JSON; NaN stays NaN."""
        return {name: values.tolist() for name, values in self._all().items()}

    def to_pandas(self) -> pd.DataFrame:
        """A pandas DataFrame that copies the columns."""
        import pandas as pd

        return pd.DataFrame({name: values.copy() for name, values in self._all().items()})

    def _all(self) -> dict[str, Array]:
        return {column.name: self[column.name] for column in self.schema.columns}


def _read_only(values: Array) -> Array:
    view = values.view()
    view.flags.writeable = False
    return view
