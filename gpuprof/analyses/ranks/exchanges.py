"""What one rank exchanges with others, in its order: kind, process group, bytes, duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpuprof.analyses.basics.device_activity import DeviceActivity
from gpuprof.analyses.basics.host_marks import autograd_threads, main_operators, picked
from gpuprof.analyses.basics.result import Result, Results
from gpuprof.analyses.ranks.process_group import ProcessGroup, group_of
from gpuprof.model import intervals
from gpuprof.model.collectives import CollectiveKind, buffer_elements, element_bytes, kind_of
from gpuprof.model.intervals import Intervals
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Trace

# Of these backends a host thread exchanges the data, so that the range lasts as long as the exchange. NCCL's ranges
# only enqueue.
_HOST_BACKENDS = ("gloo:", "mpi:")
_RANGES = (*_HOST_BACKENDS, "nccl:", "ucc:", "xccl:", "hccl:")


@dataclass(frozen=True)
class Exchange:
    """One of them. `row` of `device_events`, or of `user_ranges` where it ran on the host.

    `elements` that this rank puts in, `buffer_bytes` as NCCL's tests count them, `number` within its group, `step` by
    the step's own number, `source` and `destination` of a send or receive: -1 where not recorded.
    """

    row: int
    start_ns: int
    duration_ns: int
    kind: CollectiveKind
    group: ProcessGroup
    elements: int
    buffer_bytes: int
    number: int
    step: int
    source: int
    destination: int


@dataclass(frozen=True, eq=False)
class Exchanges(Result):
    """`each`, by start: those of the first device; where it has none, those that a host thread carries out.

    `groups_told`: whether it is known which of them are of one process group: the trace names the groups, or nothing
    speaks for more than one.
    """

    each: tuple[Exchange, ...]
    on_host: bool
    groups_told: bool

    @classmethod
    def of(cls, trace: Trace, results: Results) -> Self:
        """From the collective kernels, else the ranges of gloo and MPI, with what the profiler says of them."""
        device = results.get(DeviceActivity).primary
        events = trace.device_events
        rows = np.flatnonzero(events["collective"] & (events["device"] == (device.id if device else -1)))
        if len(rows):
            each = _all(trace, events, rows, _of_kernels(trace, rows), _range_names(trace, rows))
            streams = {int(events["stream"][found.row]) for found in each if _unnamed(found)}
            return cls(each, False, len(streams) < 2)
        rows = np.flatnonzero(trace.name_mask(trace.user_ranges, *_HOST_BACKENDS))
        each = _all(
            trace, trace.user_ranges, rows, _of_ranges(trace, rows), list(trace.names_of(trace.user_ranges.take(rows)))
        )
        return cls(each, True, (trace.source.process_groups or 1) < 2 or not any(_unnamed(found) for found in each))


def compute_beside(results: Results) -> Intervals:
    """When the rank computes: kernels that are no collectives; without a device the operators of its main thread and of
    autograd. A union."""
    device = results.get(DeviceActivity).primary
    if device is not None and not results.get(Exchanges).on_host:
        return device.compute
    return intervals.joined(main_operators(results.trace), autograd_threads(results.trace))


def _unnamed(exchange: Exchange) -> bool:
    return not exchange.group.name and exchange.kind is not CollectiveKind.SEND_RECV


def _all(trace: Trace, table: Table, rows: Array, described: Array, names: list[str]) -> tuple[Exchange, ...]:
    """`described`: the row of `collectives` for each of `rows`, -1 without; `names` tell the kind where that is so."""
    steps = picked(trace.steps["number"], table["step"][rows])
    found = trace.collectives
    each = []
    for place, (row, about) in enumerate(zip(rows.tolist(), described.tolist(), strict=True)):
        kind = kind_of(trace.names[found["name"][about]] if about >= 0 else names[place])
        group = group_of(trace, about)
        size = len(group.ranks) if group.ranks else group.size
        ins, outs = (int(found[side][about]) if about >= 0 else -1 for side in ("in_elements", "out_elements"))
        type_ = int(found["element_type"][about]) if about >= 0 else -1
        each_bytes = element_bytes(trace.names[type_]) if type_ >= 0 else None
        whole = buffer_elements(kind, ins, outs, size)
        each.append(
            Exchange(
                row=row,
                start_ns=int(table["start_ns"][row]),
                duration_ns=int(table["duration_ns"][row]),
                kind=kind,
                group=group,
                elements=ins,
                buffer_bytes=-1 if each_bytes is None or whole < 0 else whole * each_bytes,
                number=int(found["number"][about]) if about >= 0 else -1,
                step=int(steps[place]),
                source=int(found["source_rank"][about]) if about >= 0 else -1,
                destination=int(found["destination_rank"][about]) if about >= 0 else -1,
            )
        )
    return tuple(each)


def _of_kernels(trace: Trace, rows: Array) -> Array:
    """For each kernel the description of its own, else that of the operator or the range that launched it."""
    found, events = trace.collectives, trace.device_events
    own = {int(found["correlation"][at]): at for at in np.flatnonzero(found["correlation"] >= 0).tolist()}
    loose = (found["correlation"] < 0) & (found["external_id"] >= 0)
    asked = {int(found["external_id"][at]): at for at in np.flatnonzero(loose).tolist()}
    operator = picked(trace.operators["external_id"], events["operator"][rows])
    around = _around(trace, rows, found)
    by_operator = [asked.get(number, -1) for number in operator.tolist()]
    chosen = [own.get(number, -1) for number in events["correlation"][rows].tolist()]
    return np.array(
        [
            next((at for at in places if at >= 0), -1)
            for places in zip(chosen, by_operator, around.tolist(), strict=True)
        ],
        np.intp,
    )


def _range_names(trace: Trace, rows: Array) -> list[str]:
    """Of the range that launched each kernel, as `nccl:all_to_all`, else of the kernel: NCCL has one for several."""
    ranges = trace.user_ranges.take(np.flatnonzero(trace.name_mask(trace.user_ranges, *_RANGES)))
    around, named = _around(trace, rows, ranges), trace.names_of(ranges)
    kernels = trace.names_of(trace.device_events.take(rows))
    return [str(named[at]) if at >= 0 else str(kernels[place]) for place, at in enumerate(around.tolist())]


def _around(trace: Trace, rows: Array, outer: Table) -> Array:
    """The last row of `outer` (sorted by start) that is open, on the same thread, when each kernel is launched."""
    call = trace.device_events["call"][rows]
    at, thread = picked(trace.calls["start_ns"], call), picked(trace.calls["thread"], call)
    found = np.full(len(rows), -1, np.intp)
    for number in np.unique(outer["thread"]).tolist():
        inside = np.flatnonzero(outer["thread"] == number)
        asked = np.flatnonzero((thread == number) & (call >= 0))
        last = np.searchsorted(outer["start_ns"][inside], at[asked], side="right") - 1
        row = inside[np.maximum(last, 0)]
        is_open = (last >= 0) & (at[asked] < outer["start_ns"][row] + outer["duration_ns"][row])
        found[asked[is_open]] = row[is_open]
    return found


def _of_ranges(trace: Trace, rows: Array) -> Array:
    found = trace.collectives
    key = {(int(found["start_ns"][at]), int(found["thread"][at])): at for at in range(len(found))}
    ranges = trace.user_ranges
    starts, threads = ranges["start_ns"][rows].tolist(), ranges["thread"][rows].tolist()
    return np.array([key.get(pair, -1) for pair in zip(starts, threads, strict=True)], np.intp)
