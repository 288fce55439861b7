"""Whether two Traces hold the same."""

from __future__ import annotations

import dataclasses

import numpy as np

from gpuprof.model.trace import Trace


def assert_same(left: Trace, right: Trace) -> None:
    """Every table, name and fact but the path and the notes (which name bytes)."""
    for name, table in left.tables.items():
        other = right.tables[name]
        for column in table.schema.columns:
            np.testing.assert_array_equal(table[column.name], other[column.name], err_msg=f"{name}.{column.name}")
    assert left.names == right.names
    for field in dataclasses.fields(left):
        if field.name not in ("source", "tables", "names"):
            assert getattr(left, field.name) == getattr(right, field.name), field.name
    blank = {"path": "", "notes": ()}
    assert dataclasses.replace(left.source, **blank) == dataclasses.replace(right.source, **blank)
