"""Links between the tables of a small Trace, found by looking at every pair: slow, and plainly right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpuprof.model.table import Table

_LAUNCHES = range(1, 5)


def _with(table: Table, **columns: Any) -> Table:
    names = [column.name for column in table.schema.columns]
    return Table(table.schema, {name: table[name] for name in names} | columns)


def _around(outer: Table, thread: int, start: int, end: int, before: int) -> list[int]:
    """Rows of `outer` (of those before `before`) that hold [start, end] on that thread, outermost first."""
    return [
        row
        for row in range(before)
        if outer["thread"][row] == thread
        and outer["start_ns"][row] <= start
        and outer["start_ns"][row] + outer["duration_ns"][row] >= end
    ]


def _steps_of(steps: Table, starts: Any) -> list[int]:
    ends = steps["start_ns"] + steps["duration_ns"]
    found = [np.flatnonzero((steps["start_ns"] <= start) & (start < ends)) for start in starts]
    return [int(rows[-1]) if len(rows) else -1 for rows in found]


def _parents(table: Table) -> tuple[list[int], list[int]]:
    chains = [
        _around(table, table["thread"][row], start, start + table["duration_ns"][row], row)
        for row, start in enumerate(table["start_ns"])
    ]
    return [chain[-1] if chain else -1 for chain in chains], [len(chain) for chain in chains]


def link(tables: Mapping[str, Table]) -> dict[str, Table]:
    """The same tables with parent, depth, step, call and operator set. Rows must be sorted by start, longest first."""
    done = dict(tables)
    for name in ("operators", "spans", "calls", "frames"):
        done[name] = _with(done[name], step=_steps_of(tables["steps"], done[name]["start_ns"]))
    parent, depth = _parents(done["operators"])
    done["operators"] = _with(done["operators"], parent=parent, depth=depth)
    done["frames"] = _with(done["frames"], parent=_parents(done["frames"])[0])
    calls, operators = done["calls"], done["operators"]
    around = [
        _around(operators, calls["thread"][row], start, start + calls["duration_ns"][row], len(operators))
        for row, start in enumerate(calls["start_ns"])
    ]
    calls = done["calls"] = _with(calls, operator=[chain[-1] if chain else -1 for chain in around])
    events = done["device_events"]
    launches = {
        int(calls["correlation"][row]): row
        for row in range(len(calls))
        if calls["correlation"][row] >= 0 and calls["kind"][row] in _LAUNCHES
    }
    call = [launches.get(int(correlation), -1) for correlation in events["correlation"]]
    own = _steps_of(done["steps"], events["start_ns"])
    done["device_events"] = _with(
        events,
        call=call,
        operator=[int(calls["operator"][row]) if row >= 0 else -1 for row in call],
        step=[int(calls["step"][row]) if row >= 0 else own[i] for i, row in enumerate(call)],
    )
    return done
