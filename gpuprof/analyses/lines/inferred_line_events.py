"""Line events from what else is known: the line that steps an optimizer, and the one that asks a loader for batches.

Before Python 3.12 lines are only known while certain calls run; optimizer steps and waits for batches are added here,
where one line alone can have made them.
"""

from __future__ import annotations

import numpy as np

from gpuprof.analyses.basics.phases import INPUT
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.schema import LINE_EVENTS
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

_OPTIMIZER = "Optimizer.step#"


def with_spans(trace: Trace, events: Table) -> Table:
    """`events` (rows of `line_events`, in any order), with those of spans whose line is known, on the trace's clock.

    What was noted on the main thread inside an optimizer's step is left out: the step's line has called it. Inside a
    wait for data the lines of the dataset stay, and the wait's line holds between them.
    """
    tids = trace.threads["tid"]
    if not 0 <= trace.main_thread < len(tids):
        return events
    tid = int(tids[trace.main_thread])
    for line, spans, keeps in _known(trace):
        within = intervals.union(spans)
        inside = intervals.contains(within, events["time_ns"]) & (events["tid"] == tid)
        kept = _back_to(line, events, inside) if keeps else events.take(~inside)
        events = _joined(kept, _as_events(tid, line, within))
    return events


def _back_to(line: int, events: Table, inside: Array) -> Table:
    """Where followed code ends inside the span, its line goes on."""
    ends = inside & (events["line"] < 0)
    lines = {name: np.where(ends, line, events[name]) for name in ("line", "cell_line")}
    return events.replace(**lines, source_file=np.where(ends, 0, events["source_file"]))


def _known(trace: Trace) -> list[tuple[int, Intervals, bool]]:
    """The line, when it ran, and whether what was noted meanwhile stays."""
    spans, context = trace.user_ranges, trace.context
    on_main = spans["thread"] == trace.main_thread
    found = []
    for name in sorted({each.name for each in context.optimizers}):
        lines = {each.line for each in context.optimizers if each.name == name and each.steps}
        chosen = trace.name_mask(spans, f"{_OPTIMIZER}{name}.step") & on_main
        found.append((lines, chosen, False))
    found.append(({each.line for each in context.loaders if each.iterations_started}, _waits(trace) & on_main, True))
    return [
        (line, intervals.of(spans.take(chosen)), keeps)
        for lines, chosen, keeps in found
        if (line := _only(lines)) is not None
    ]


def _only(lines: set[int | None]) -> int | None:
    return next(iter(lines)) if len(lines) == 1 else None


def _waits(trace: Trace) -> Array:
    return trace.name_mask(trace.user_ranges, INPUT)


def _as_events(tid: int, line: int, within: Intervals) -> dict[str, Array]:
    count = len(within.starts)
    lines = np.repeat([line, -1], count)
    return {
        "time_ns": np.concatenate((within.starts, within.ends)),
        "tid": np.full(2 * count, tid),
        "source_file": np.repeat([0, -1], count),
        "line": lines,
        "cell_line": lines,
        "begins": np.repeat([True, False], count),
    }


def _joined(events: Table, more: dict[str, Array]) -> Table:
    """The ends of spans first: another one may begin in the same instant."""
    return Table(LINE_EVENTS, {name: np.concatenate((more[name][::-1], events[name])) for name in more})
