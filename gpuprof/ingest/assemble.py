"""From raw tables to a Trace: steps, links, span, main thread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from gpuprof.ingest.cut import cut
from gpuprof.ingest.linking import link
from gpuprof.ingest.steps import find_steps
from gpuprof.model.context import RunContext, Window
from gpuprof.model.device import Device
from gpuprof.model.kinds import CallKind
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Source, Trace

_ENGINE = re.compile(r"autograd::engine::")


def assemble(
    tables: Mapping[str, Table],
    names: Sequence[str],
    source: Source,
    *,
    external_ids: Array | None = None,
    devices: tuple[Device, ...] = (),
    context: RunContext | None = None,
) -> Trace:
    """A Trace of raw tables in any order: finds the steps and sets every link. See `linking.link`."""
    context = context or RunContext()
    window = context.window
    if window is not None and window.end_ns > window.start_ns:
        tables = cut(tables, window.end_ns)
    # A recording that was started over began at the end of a step; one that began with the cell holds its set-up too.
    between_steps = window.start_ns if window and (window.started_late or window.first_step > 0) else None
    steps = find_steps(
        tables["user_ranges"],
        tables["operators"],
        names,
        window_start_ns=between_steps,
        counted=window.steps_recorded if window else None,
    )
    linked = link({**tables, "steps": steps.table}, external_ids=external_ids)
    start_ns, end_ns = span(linked)
    if window is not None and source.kernels_saved:
        start_ns, end_ns = _whole(window, context, start_ns, end_ns)
    return Trace(
        source=source,
        names=tuple(names),
        tables=linked,
        span_start_ns=start_ns,
        span_end_ns=end_ns,
        main_thread=steps.thread if steps.thread >= 0 else main_thread(linked, names),
        steps_from=steps.source,
        device_recorded=device_recorded(linked),
        devices=devices,
        context=context,
    )


def span(tables: Mapping[str, Table]) -> tuple[int, int]:
    """First begin and last end of any operator, call or device event, ns; that of spans and frames without any."""
    for group in (("operators", "calls", "device_events"), ("user_ranges", "frames")):
        found = [tables[name] for name in group if len(tables[name])]
        if found:
            return (
                min(int(table["start_ns"].min()) for table in found),
                max(int((table["start_ns"] + table["duration_ns"]).max()) for table in found),
            )
    return 0, 0


def _whole(window: Window, context: RunContext, start_ns: int, end_ns: int) -> tuple[int, int]:
    """The recorded part of the cell, and whatever events reach beyond it.

    Time in which nothing of torch's ran counts as well. A cell that raised ends with its last event, or where it
    began if there is none: what follows is IPython printing the traceback.
    """
    begin, end = max(window.start_ns, window.cell_start_ns), min(window.end_ns, window.cell_end_ns)
    if end <= begin:
        return start_ns, end_ns
    raised = context.outcome is not None and context.outcome.error is not None
    if start_ns == end_ns:
        return begin, begin if raised else end
    return min(begin, start_ns), end_ns if raised else max(end, end_ns)


def main_thread(tables: Mapping[str, Table], names: Sequence[str]) -> int:
    """The thread that makes most outermost framework calls, those of the autograd engine apart; else most calls.

    Row of `threads`, -1 where no host thread was recorded.
    """
    operators = tables["operators"]
    outermost = operators.take(operators["depth"] == 0)
    engine = np.fromiter((_ENGINE.match(name) is not None for name in names), bool, len(names))
    own = outermost.take(~engine[outermost["name"]]) if len(outermost) else outermost
    for table in (own, operators, tables["calls"], tables["user_ranges"], tables["frames"]):
        if len(table):
            return int(np.bincount(table["thread"]).argmax())
    return -1


def device_recorded(tables: Mapping[str, Table]) -> bool | None:
    """Whether device activity was captured (see Trace)."""
    if len(tables["device_events"]):
        return True
    kind = tables["calls"]["kind"]
    return False if ((kind >= CallKind.KERNEL) & (kind <= CallKind.GRAPH)).any() else None
