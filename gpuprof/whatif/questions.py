"""A person's own question: the run with some of it faster, or gone. Each part becomes a change to the graph."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from numbers import Integral, Real
from typing import Any

import numpy as np

from gpuprof import units
from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.phases import Phases
from gpuprof.analyses.basics.result import Results
from gpuprof.analyses.lines.line_places import LinePlaces, issued_at
from gpuprof.analyses.ranks.collectives import Collectives
from gpuprof.analyses.transfers.copies import Copies
from gpuprof.analyses.transfers.pinned_bandwidth import pinned_bytes_per_s
from gpuprof.analyses.transfers.sync_waits import SyncWaits
from gpuprof.errors import UsageError
from gpuprof.model import intervals
from gpuprof.model.intervals import Intervals
from gpuprof.model.kernel_names import short_name
from gpuprof.model.kinds import CopyKind, DeviceEventKind, HostMemory
from gpuprof.model.table import Table
from gpuprof.model.trace import Trace
from gpuprof.whatif.changes.batches import batches_at_once
from gpuprof.whatif.changes.copies import USUAL_BYTES_PER_S, copied_from_pinned
from gpuprof.whatif.changes.graph_edits import GraphEdit, together
from gpuprof.whatif.changes.trace_changes import (
    host_time_scaled,
    operations_gone,
    operations_lasting,
    operations_scaled,
    unchanged,
    waits_dropped,
)
from gpuprof.whatif.predict import Range

_MOST_NAMED = 3
_NAMES = '{"*gemm*": 0.5}'
_NO_DEVICE = "no device was recorded in this run, and {} concerns a device"
_LATE_RANKS = "how much of a collective is a wait for other ranks is not known from one rank"


@dataclass(frozen=True)
class Question:
    """What is asked; all of it is simulated together.

    `kernel_time`: by name pattern (`*gemm*`, case counts) the factor on the time of kernels, or of operators where no
    device was recorded. `without_lines`: lines of the cell, 1-based, with all that they call and launch.
    `link_speedup`: how many times as fast collectives are.
    """

    kernel_time: Mapping[str, float] = field(default_factory=dict)
    without_lines: Sequence[int] = ()
    pinned_copies: bool = False
    no_waits: bool = False
    data_ready: bool = False
    link_speedup: float = 1.0

    def __post_init__(self) -> None:
        """UsageError, with one line, for what is of another kind: it comes from a person."""
        if not isinstance(self.kernel_time, Mapping):
            raise UsageError(f"whatif: kernel_time is {self.kernel_time!r}; expected names and factors: {_NAMES}")
        for pattern, factor in self.kernel_time.items():
            if not (isinstance(pattern, str) and _is_number(factor) and 0 <= factor < math.inf):
                raise UsageError(f"whatif: kernel_time of {pattern!r} is {factor!r}; expected a factor of 0 or more")
        lines = self.without_lines
        if not (isinstance(lines, Sequence) and all(isinstance(each, Integral) for each in lines)):
            raise UsageError(f"whatif: without_lines is {lines!r}; expected numbers of lines, such as [12]")
        if not (_is_number(self.link_speedup) and 0 < self.link_speedup < math.inf):
            raise UsageError(
                f"whatif: link_speedup is {self.link_speedup!r}; expected a number above 0, such as 2 for twice as fast"
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a question: `words` for it, the `change` to the graph, and the host's time that it concerns, of which
    the factor `left` stays. `assumed`: what it takes for granted that no record can show."""

    words: str
    change: Range
    host: Intervals = field(default_factory=lambda: intervals.EMPTY)
    left: float = 0.0
    assumed: str = ""


def parts_of(results: Results, asked: Question) -> tuple[Part, ...]:
    """Each part of the question; UsageError, with one line, for one that this run cannot be asked."""
    found = tuple(_parts(results, asked))
    if not found:
        raise UsageError(
            "whatif: nothing is asked; give kernel_time, without_lines, pinned_copies, no_waits, data_ready or "
            "link_speedup"
        )
    return found


def _parts(results: Results, asked: Question) -> Iterator[Part]:
    if asked.without_lines:
        yield _without_lines(results, asked.without_lines)
    if asked.data_ready:
        yield _data_ready(results)
    for pattern, factor in asked.kernel_time.items():
        yield _kernel_time(results, pattern, factor)
    if asked.pinned_copies:
        yield _pinned_copies(results)
    if asked.no_waits:
        yield _no_waits(results)
    if asked.link_speedup != 1.0:
        yield _faster_links(results, asked.link_speedup)


def _kernel_time(results: Results, pattern: str, factor: float) -> Part:
    trace, words = results.trace, f"named {pattern} in {units.percent(factor)} of their time"
    hit = np.array([fnmatchcase(name, pattern) for name in trace.names], bool)
    if results.get(DeviceActivity).recorded:
        kernels = np.flatnonzero(trace.device_events["kind"] == DeviceEventKind.KERNEL)
        rows = kernels[hit[trace.device_events["name"][kernels]]]
        _some(
            len(rows), f"no kernel of this run is named {pattern!r}", _longest(trace, trace.device_events.take(kernels))
        )
        return Part(f"kernels {words}", _always(operations_scaled(rows, factor)))
    operators = trace.operators
    mine = np.flatnonzero(operators["thread"] == trace.main_thread)
    rows, top = mine[hit[operators["name"][mine]]], mine[operators["parent"][mine] < 0]
    _some(len(rows), f"no operator of this run is named {pattern!r}", _longest(trace, operators.take(top)))
    inside = intervals.union(intervals.of(operators.take(rows)))
    return Part(f"operators {words}", _always(host_time_scaled(inside, factor)), inside, factor)


def _without_lines(results: Results, lines: Sequence[int]) -> Part:
    trace, places = results.trace, results.get(LinePlaces)
    known = np.unique(places.events["cell_line"][places.events["cell_line"] > 0]).tolist()
    if not known:
        raise UsageError("whatif: no line was followed in this run, so none can be left out")
    missing = [line for line in lines if line not in known]
    if missing:
        listed = ", ".join(map(str, known[:20]))
        raise UsageError(f"whatif: line {missing[0]} did not run while the cell was recorded; lines that did: {listed}")
    mine = np.isin(places.events["cell_line"], lines) & (places.events["line"] > 0)
    held = mine & (places.thread == places.main_thread)
    inside = intervals.union(Intervals(places.events["time_ns"][held], places.end_ns[held]))
    inside = intervals.intersect(inside, places.within)
    launched = places.at(*issued_at(trace, trace.device_events))
    gone = np.flatnonzero((launched >= 0) & mine[np.maximum(launched, 0)])
    named = f"{'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}"
    return Part(f"without {named}", _always(together(host_time_scaled(inside, 0.0), operations_gone(gone))), inside)


def _data_ready(results: Results) -> Part:
    waits = results.get(Phases).input
    _some(len(waits.starts), "no wait for a DataLoader was recorded in this run")
    return Part("every batch ready when it is asked for", _always(batches_at_once(waits).optimistic), waits)


def _pinned_copies(results: Results) -> Part:
    _needs_device(results, "a copy")
    copies = results.get(Copies).of_direction(CopyKind.H2D)
    pageable = copies["host_memory"] == HostMemory.PAGEABLE
    _some(int(pageable.sum()), "no copy from pageable memory to the device is known in this run")
    reached = pinned_bytes_per_s(results)
    speed = units.rate(reached or USUAL_BYTES_PER_S)
    issued = copies["call"][pageable & (copies["call"] >= 0)]
    return Part(f"copies from pinned memory at {speed}", copied_from_pinned(results, issued, reached))


def _no_waits(results: Results) -> Part:
    _needs_device(results, "a wait of the host")
    waits = results.get(SyncWaits)
    _some(waits.count, "no wait of the host for the device was recorded in this run")
    return Part("without waits of the host for the device", _always(waits_dropped(waits.table["call"])))


def _faster_links(results: Results, times: float) -> Part:
    _needs_device(results, "a collective")
    found = results.get(Collectives)
    _some(len(found.event), "no collective was recorded in this run")
    faster = operations_lasting(found.event, np.rint(found.duration_ns / times).astype(np.int64))
    change = Range(unchanged, faster, faster) if times > 1 else Range(faster, faster, unchanged)
    return Part(f"collectives {units.factor(times)} as fast", change, assumed=_LATE_RANKS)


def _always(edit: GraphEdit) -> Range:
    return Range(edit, edit, edit)


def _needs_device(results: Results, what: str) -> None:
    if not results.get(DeviceActivity).recorded:
        raise UsageError(f"whatif: {_NO_DEVICE.format(what)}")


def _some(number: int, otherwise: str, known: str = "") -> None:
    if not number:
        raise UsageError(f"whatif: {otherwise}{known}")


def _longest(trace: Trace, table: Table) -> str:
    """The names that take most of the time, to choose from."""
    if not len(table):
        return ""
    spent = np.bincount(table["name"], weights=table["duration_ns"])
    most = [row for row in np.argsort(-spent, kind="stable")[:_MOST_NAMED].tolist() if spent[row] > 0]
    names = (short_name(trace.names[row]) for row in most)
    return f"; those that take most time: {', '.join(dict.fromkeys(names))}"
