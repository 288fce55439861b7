"""Joins the tables of one rank: operator → launch → device work, and the step of everything. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gpuprof.ingest.nesting import innermost, nest
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array, Table

SORTED_BY_START = ("operators", "user_ranges", "calls", "device_events", "collectives", "syncs", "frames", "steps")


def link(tables: Mapping[str, Table], *, external_ids: Array | None = None) -> dict[str, Table]:
    """The same tables, each sorted by start (longest first), with every link set.

    Needs the schema's tables with their own columns filled, `steps` included. `external_ids` of shape
    `(len(device_events),)`, in the given order, names the operator where no launch does (-1: unknown).

    Sets `parent` and `depth` of operators, `parent` of frames, `operator` of calls, `call` and `operator` of device
    events, `call` of syncs, and `step` everywhere. A row belongs to the step in which it began; device work to that
    of its launch.
    """
    linked = dict(tables)
    if external_ids is not None:
        external_ids = external_ids[_order(tables["device_events"])]
    for name in SORTED_BY_START:
        linked[name] = sort_by_start(linked[name])
    memory = linked["memory"]
    linked["memory"] = memory.take(np.argsort(memory["time_ns"], kind="stable")).replace()
    steps = linked["steps"]
    for name in ("operators", "user_ranges", "calls", "frames"):
        linked[name] = linked[name].replace(step=step_at(steps, linked[name]["start_ns"]))
    parent, depth = nest(linked["operators"])
    operators = linked["operators"] = linked["operators"].replace(parent=parent, depth=depth)
    linked["frames"] = linked["frames"].replace(parent=nest(linked["frames"])[0])
    calls = linked["calls"]
    around = innermost(operators, parent, calls["thread"], calls["start_ns"])
    calls = linked["calls"] = calls.replace(operator=around)
    linked["device_events"] = _link_device_events(linked["device_events"], calls, operators, steps, external_ids)
    syncs = linked["syncs"]
    waits = match_correlation(calls, syncs["correlation"], syncs["start_ns"])
    linked["syncs"] = syncs.replace(call=waits)
    return linked


def sort_by_start(table: Table) -> Table:
    """The table sorted by start, longest first; equal rows keep their order."""
    in_order = (np.diff(table["start_ns"]) > 0).all()  # as torch writes operators of one thread
    return table if in_order else table.take(_order(table))


def _order(table: Table) -> Array:
    starts = table["start_ns"]
    # almost in order as a rule, which a stable sort is quick with
    order = np.argsort(starts, kind="stable")
    if (np.diff(starts[order]) == 0).any():
        order = np.lexsort((-table["duration_ns"], starts))
    return order


def step_at(steps: Table, times: Array) -> Array:
    """The step (row of `steps`, sorted by start) that is open at each instant; int32 of `times`'s shape, -1 if none."""
    if not len(steps):
        return np.full(len(times), -1, np.int32)
    row = np.searchsorted(steps["start_ns"], times, side="right") - 1
    ends = steps["start_ns"] + steps["duration_ns"]
    return np.where((row >= 0) & (times < ends[np.maximum(row, 0)]), row, -1).astype(np.int32)


def match_correlation(calls: Table, correlations: Array, starts: Array) -> Array:
    """The call of each correlation id; int32 of shape `(len(correlations),)`, -1 where none has it.

    Where several calls share an id (a driver call within a runtime call, merged ranks) a launch is preferred, and of
    those the last that began before `starts`, else the first. Ids below 1 match nothing.
    """
    known = np.flatnonzero(calls["correlation"] > 0)
    launch = _is_launch(calls)[known]
    # A launch outbids other calls of the same id, so sort it last and let it be found first.
    order = known[np.lexsort((calls["start_ns"][known], launch, calls["correlation"][known]))]
    ids = calls["correlation"][order]
    last = np.searchsorted(ids, correlations, side="right") - 1
    hit = (last >= 0) & (correlations > 0)
    hit[hit] = ids[last[hit]] == correlations[hit]
    row = np.where(hit, order[np.maximum(last, 0)] if len(order) else -1, -1)
    for i in np.flatnonzero(hit & (last > 0)):
        if ids[last[i] - 1] == correlations[i]:
            row[i] = _best_of(calls, order[np.searchsorted(ids, correlations[i]) : last[i] + 1], int(starts[i]))
    return row.astype(np.int32)


def _best_of(calls: Table, rows: Array, start_ns: int) -> int:
    launches = rows[_is_launch(calls)[rows]]
    rows = launches if len(launches) else rows
    begun = rows[calls["start_ns"][rows] <= start_ns]
    return int(begun[-1] if len(begun) else rows[0])


def _is_launch(calls: Table) -> Array:
    mask: Array = (calls["kind"] >= CallKind.KERNEL) & (calls["kind"] <= CallKind.GRAPH)
    return mask


def _link_device_events(
    events: Table, calls: Table, operators: Table, steps: Table, external_ids: Array | None
) -> Table:
    call = match_correlation(calls, events["correlation"], events["start_ns"])
    operator = np.full(len(events), -1, np.int32)
    step = step_at(steps, events["start_ns"])
    launched = np.flatnonzero(call >= 0)
    operator[launched] = calls["operator"][call[launched]]
    step[launched] = calls["step"][call[launched]]
    if external_ids is not None:
        unknown = np.flatnonzero(operator < 0)
        operator[unknown] = _by_external_id(operators, external_ids[unknown])
    return events.replace(call=call, operator=operator, step=step)


def _by_external_id(operators: Table, external_ids: Array) -> Array:
    """The operator of each external id, -1 where no operator, or more than one, has it."""
    ids, first, count = np.unique(operators["external_id"], return_index=True, return_counts=True)
    if not len(ids):
        return np.full(len(external_ids), -1, np.int32)
    position = np.minimum(np.searchsorted(ids, external_ids), len(ids) - 1)
    hit = (ids[position] == external_ids) & (external_ids > 0) & (count[position] == 1)
    return np.where(hit, first[position], -1).astype(np.int32)
