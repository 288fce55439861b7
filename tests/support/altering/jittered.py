"""Runs shaken at random: rows missing, times of another length, some of it on a second thread, device or stream.

`jittered(trace, seed)` is always the same. What happens in every run alike then differs from row to row: sums are no
longer products, the first row is no longer like the others, and no order is the order of the file.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from gpuprof.model.context import RunContext
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace
from tests.support.altering.altered import facts, with_rows

FACTORS = (0.0, 0.5, 1.0, 1.0, 1.5, 3.0)
DROPPED = (0.0, 0.0, 0.05, 0.2)
MOVED = (0.0, 0.0, 0.3)
READ = (1.0, 1.0, 0.97, 1.05)
SHAKEN = (1.0, 1.0, 1.0, 0.5, 2.0)
ELSEWHERE = ("operators", "calls", "device_events")


class Draws:
    """Arrays that are the same with every Python and numpy."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, values: tuple[float, ...]) -> float:
        """One of them."""
        return values[int(self._random.random() * len(values))]

    def mask(self, rows: int, share: float) -> Array:
        """True for about that share of the rows."""
        return np.array([self._random.random() < share for _ in range(rows)], bool)

    def each(self, rows: int, values: tuple[float, ...]) -> Array:
        """One of them for every row."""
        return np.array([self.of(values) for _ in range(rows)])


def jittered(trace: Trace, seed: int) -> Trace:
    """The run of that number."""
    draws = Draws(seed)
    for name in ("operators", "user_ranges", "calls", "device_events", "memory", "steps"):
        rows = len(trace.tables[name])
        share = draws.of(DROPPED)
        if rows:
            trace = with_rows(trace, name, ~draws.mask(rows, share))
    tables = dict(trace.tables)
    for name in ("operators", "calls", "device_events", "user_ranges"):
        tables[name] = _lasting(tables[name], draws)
    if len(tables["threads"]):
        added = {"pid": 1, "tid": 9_999, "name": 0}
        threads = tables["threads"]
        more = {key: np.append(threads[key], value) for key, value in added.items()}
        tables["threads"] = Table(threads.schema, more)
    for name in ELSEWHERE:
        chosen = draws.mask(len(tables[name]), draws.of(MOVED))
        tables[name] = _elsewhere(tables[name], name, chosen, len(tables["threads"]) - 1)
    for name in ("device_readings", "host_readings"):
        tables[name] = _read_otherwise(tables[name], draws)
    return replace(trace, tables=tables, context=msgspec.convert(_shaken(facts(trace.context), draws), RunContext))


def _read_otherwise(table: Table, draws: Draws) -> Table:
    """Some readings are missing, of others some values are higher or lower; bit masks stay."""
    table = table.take(~draws.mask(len(table), draws.of(DROPPED)))
    names = [each.name for each in table.schema.columns if each.unit in ("percent", "mW", "bytes", "MHz", "°C")]
    return table.replace(**{name: table[name] * draws.each(len(table), READ) for name in names})


def _shaken(known: Any, draws: Draws) -> Any:
    """Numbers of the context halved and doubled; lists of numbers stay."""
    if isinstance(known, dict):
        return {key: _shaken(value, draws) for key, value in known.items()}
    if isinstance(known, list):
        return known if known and isinstance(known[0], int | float) else [_shaken(value, draws) for value in known]
    if isinstance(known, int | float) and not isinstance(known, bool):
        return type(known)(known * draws.of(SHAKEN))
    return known


def _lasting(table: Table, draws: Draws) -> Table:
    """Some of the rows take another time, the same for all or each its own."""
    rows = len(table)
    if not rows:
        return table
    factors = draws.each(rows, FACTORS) if draws.of(MOVED) else np.full(rows, draws.of(FACTORS[1:]))
    return table.replace(duration_ns=np.round(table["duration_ns"] * factors).astype(np.int64))


def _elsewhere(table: Table, name: str, chosen: Array, thread: int) -> Table:
    if name == "device_events":
        return table.replace(
            device=table["device"] + (chosen & (table["stream"] % 2 == 0)), stream=table["stream"] + 2 * chosen
        )
    return table.replace(thread=np.where(chosen, thread, table["thread"]))
