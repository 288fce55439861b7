"""Hot spots of a recording whose stack was not sampled: its operators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gpuprof.analyses.accounts.hot_spot import LEAST_SHARE, MOST, HotSpot
from gpuprof.analyses.accounts.idle_work import LOADER, PYTHON, DeviceIdleWork, IdleWork
from gpuprof.analyses.accounts.phase import PHASES, Phase
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import outermost, picked
from gpuprof.analyses.basics.phases import Phases, backward_mask
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces
from gpuprof.analyses.ranks.exposed_exchanges import ExposedExchanges
from gpuprof.analyses.run.time_budget import TimeBudget
from gpuprof.model import intervals
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.table import Array
from gpuprof.model.trace import Trace

# of the main thread's time without a device
_NO_OPERATORS = (
    ("host_other", None, PYTHON),
    ("input_wait", Phase.DATA, LOADER),
    ("compiling", Phase.COMPILING, "torch.compile"),
)


def recorded_spots(trace: Trace, results: Results) -> tuple[HotSpot, ...]:
    """The operators: by the device work that they launched where there is any (kernels of no operator by their own
    names) and what the CPU did while the device was idle, else by their own time on the host, and the waits and the
    Python between them. Copies and communication count only while the device computes nothing; communication is listed
    by kind."""
    found = [*_operators(trace, results), *_exchanges(trace, results)]
    found += [_idle(trace, work) for work in results.get(DeviceIdleWork).work if work.share >= LEAST_SHARE]
    budget = results.get(TimeBudget)
    for category, phase, what in _NO_OPERATORS:
        if (ns := budget.ns(category)) >= LEAST_SHARE * trace.span_ns:
            found.append(HotSpot(ns, ns / trace.span_ns, phase, what))
    return tuple(sorted(found, key=lambda each: -each.ns)[:MOST])


def _idle(trace: Trace, work: IdleWork) -> HotSpot:
    spot = HotSpot(work.ns, work.share, None, work.what, idle=True)
    return spot if work.line is None else replace(spot, **_in_cell(trace, work.line))


def _exchanges(trace: Trace, results: Results) -> list[HotSpot]:
    """By kind: the operator that launches one often only waits for another."""
    return [
        HotSpot(part.total_ns, part.total_ns / trace.span_ns, None, f"exposed {kind.value}")
        for kind, part in results.get(ExposedExchanges).parts
        if part.total_ns >= LEAST_SHARE * trace.span_ns
    ]


def _operators(trace: Trace, results: Results) -> list[HotSpot]:
    rows, names, own_ns = _work(trace, results)
    if not len(rows):
        return []
    operators = trace.operators
    phase = np.where(rows >= 0, picked(_phases_of(trace, results), rows), -1)
    distinct, group = np.unique(np.stack((names, phase), axis=1), axis=0, return_inverse=True)
    group = group.reshape(-1)
    spent = np.bincount(group, weights=own_ns, minlength=len(distinct))
    places = results.get(LinePlaces)
    found = []
    for row in np.argsort(-spent, kind="stable")[:MOST]:
        if spent[row] < LEAST_SHARE * trace.span_ns:
            break
        mine = (group == row) & (rows >= 0)
        at = rows[mine]
        lines = places.lines_at(operators["thread"][at], operators["start_ns"][at], own_ns[mine].astype(np.float64))
        known = None if distinct[row, 1] < 0 else PHASES[distinct[row, 1]]
        spot = HotSpot(int(spent[row]), float(spent[row] / trace.span_ns), known, trace.names[distinct[row, 0]])
        found.append(replace(spot, **_in_cell(trace, lines[0])) if lines else spot)
    return found


def _work(trace: Trace, results: Results) -> tuple[Array, Array, Array]:
    """Pieces of work: the row of the outermost operator (-1: none), the name, and ns."""
    device, operators = results.get(DeviceActivity).primary, trace.operators
    if device is None:
        rows = np.flatnonzero(operators["thread"] == trace.main_thread)
        return rows, operators["name"][rows], _own_ns(trace)[rows]
    events = trace.device_events
    events = events.take((events["device"] == device.id) & ~events["collective"])
    rows = outermost(trace, picked(trace.calls["operator"], events["call"]))
    names = np.where(rows >= 0, picked(operators["name"], rows), events["name"])
    every, copies = intervals.of(events), events["kind"] == DeviceEventKind.COPY
    alone = intervals.covered(results.get(TimeBudget).parts["exposed_copy"], every.starts, every.ends)
    return rows, names, np.where(copies, alone, events["duration_ns"])


def _own_ns(trace: Trace) -> Array:
    operators = trace.operators
    inner = operators["parent"] >= 0
    within = np.bincount(operators["parent"][inner], operators["duration_ns"][inner], len(operators))
    own: Array = np.maximum(operators["duration_ns"] - within, 0)
    return own


def _phases_of(trace: Trace, results: Results) -> Array:
    """The phase of every operator, as its place in PHASES."""
    at, operators = results.get(Phases), trace.operators
    middle = operators["start_ns"] + operators["duration_ns"] // 2
    phase: Array = np.full(len(operators), PHASES.index(Phase.FORWARD), np.int64)
    backward = np.isin(operators["thread"], _engine_threads(trace)) | intervals.contains(at.backward, middle)
    phase[backward | trace.name_mask(operators, "autograd::engine::")] = PHASES.index(Phase.BACKWARD)
    phase[intervals.contains(at.optimizer, middle)] = PHASES.index(Phase.OPTIMIZER)
    phase[intervals.contains(at.input, middle)] = PHASES.index(Phase.DATA)
    return phase


def _engine_threads(trace: Trace) -> Array:
    """Threads other than the main one that run what autograd's engine gives them."""
    threads = np.unique(trace.operators["thread"][backward_mask(trace)])
    others: Array = threads[threads != trace.main_thread]
    return others


def _in_cell(trace: Trace, line: int) -> dict[str, Any]:
    cell = trace.context.cell
    return {
        "source_file": cell.filename if cell and cell.filename else "the cell",
        "is_cell": True,
        "execution_count": cell.execution_count if cell else None,
        "line": line,
        "cell_line": line,
    }
