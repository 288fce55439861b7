"""The columns of some events of one category."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from gpuprof.ingest import shapes, vocabulary
from gpuprof.ingest.event import COPY, KERNEL, MEMSET, NO_ARGS, NO_TEXT, Args, Event
from gpuprof.ingest.numbering import NameLookup, Numbering, thread_key, whole
from gpuprof.ingest.numbers import BadTimeError, durations_ns, floats, integers, products, starts_ns, whole_ns
from gpuprof.ingest.plain_operators import PlainOperators
from gpuprof.model.kinds import CopyKind, DeviceEventKind, HostMemory
from gpuprof.model.known_operators import DENSE_BACKWARDS, SLICES, WITH_NUMBERS
from gpuprof.model.table import Array

Columns = dict[str, Array]

# of other operators the numbers are many different texts that nothing reads
_VALUED = SLICES | DENSE_BACKWARDS | WITH_NUMBERS
_INT32_MAX = np.iinfo(np.int32).max
_NOTHING = [-1, 1, 1]
# warps on a multiprocessor: one is 1.6 % of 64, and half of a percent is rounded up
_SURELY_SEEN = 1.0
_DEVICE_KIND: dict[str | None, DeviceEventKind] = {
    category: kind
    for categories, kind in (
        (KERNEL, DeviceEventKind.KERNEL),
        (COPY, DeviceEventKind.COPY),
        (MEMSET, DeviceEventKind.MEMSET),
    )
    for category in categories
}


class EventTimeError(ValueError):
    """An event whose `ts` is no number. `event` is it, `found` what stands there."""

    def __init__(self, event: Event, found: str):
        self.event, self.found = event, found
        super().__init__(found)


class ColumnMaker:
    """Makes columns, numbering names and threads as it meets them.

    Times are ns as the file counts them, without its base. `starts_in_ns` says that `ts` has been turned into ns
    already. `odd_durations` counts durations that were negative or no
    number.
    """

    def __init__(self) -> None:
        self.names = Numbering(str)
        self.threads = Numbering(thread_key)
        self.odd_durations = 0
        self.starts_in_ns = False
        self._json_texts = _JsonTexts()
        self._is_torch_span = NameLookup(self.names, vocabulary.is_torch_span, "bool")
        self._call_kind = NameLookup(self.names, vocabulary.call_kind, "uint8")
        self._copy_kind = NameLookup(self.names, vocabulary.copy_kind, "uint8")
        self._host_memory = NameLookup(self.names, vocabulary.host_memory, "uint8")
        self._is_collective = NameLookup(self.names, vocabulary.is_collective, "bool")

    def operators(self, events: Sequence[Event]) -> Columns:
        """Rows of `operators`; `torch_span` marks those that are ranges of torch's own."""
        args = _args(events)
        columns = self._host(events)
        return columns | {
            "external_id": _external_ids(args),
            "sequence": integers([a.sequence for a in args]),
            "forward_thread": integers([a.forward_thread for a in args]),
            "input_dims": self._texts([a.input_dims or a.input_dims_2021 for a in args]),
            "input_types": self._texts([a.input_types for a in args]),
            "input_values": self._texts(
                [a.input_values if e.name in _VALUED else NO_TEXT for a, e in zip(args, events, strict=True)]
            ),
            "torch_span": self._is_torch_span(columns["name"]),
        }

    def plain_operators(self, rows: PlainOperators) -> Columns:
        """The same columns of operators that were not parsed."""
        number_of = {text: self.names[text.decode()] for text in set(rows.names)}
        name = np.array([number_of[text] for text in rows.names], np.int32)
        changes = np.flatnonzero((np.diff(rows.pid) != 0) | (np.diff(rows.tid) != 0)) + 1
        firsts = np.concatenate(([0], changes))
        threads = [self.threads[key] for key in zip(rows.pid[firsts].tolist(), rows.tid[firsts].tolist(), strict=True)]
        without = np.full(len(name), -1, np.int32)
        return {
            "start_ns": rows.start_ns,
            "duration_ns": rows.duration_ns,
            "name": name,
            "thread": np.repeat(np.array(threads, np.int32), np.diff(firsts, append=len(name))),
            "external_id": rows.external_id,
            "sequence": rows.sequence,
            "forward_thread": rows.forward_thread,
            "input_dims": without,
            "input_types": without,
            "input_values": without,
            "torch_span": self._is_torch_span(name),
        }

    def spans(self, events: Sequence[Event]) -> Columns:
        """Rows of `user_ranges`."""
        return self._host(events)

    def frames(self, events: Sequence[Event]) -> Columns:
        """Rows of `frames`, which have the columns of `user_ranges`; built-ins by their names, without an address."""
        named = self._timed(events, [vocabulary.function_name(str(e.name)) for e in events])
        return named | {"thread": self._threads(events)}

    def calls(self, events: Sequence[Event]) -> Columns:
        """Rows of `calls`."""
        columns = self._host(events)
        correlation = integers([a.correlation for a in _args(events)])
        return columns | {"correlation": correlation, "kind": self._call_kind(columns["name"])}

    def device_events(self, events: Sequence[Event]) -> Columns:
        """Rows of `device_events`, and their `external_id`."""
        args = _args(events)
        kind = np.array([_DEVICE_KIND[e.cat] for e in events], np.uint8)
        is_copy, is_kernel = kind == DeviceEventKind.COPY, kind == DeviceEventKind.KERNEL
        columns = self._timed(events)
        name = columns["name"]
        named = np.array([a.collective is not None for a in args], bool)
        return columns | {
            "kind": kind,
            "device": _or_lane([a.device for a in args], [e.pid for e in events]),
            "stream": _or_lane([a.stream for a in args], [e.tid for e in events]),
            "correlation": integers([a.correlation for a in args]),
            "external_id": _external_ids(args),
            "bytes": integers([a.bytes for a in args]),
            "copy": np.where(is_copy, self._copy_kind(name), np.uint8(CopyKind.NONE)),
            "host_memory": np.where(is_copy, self._host_memory(name), np.uint8(HostMemory.NONE)),
            "collective": is_kernel & (self._is_collective(name) | named),
            "blocks": products([a.grid or _NOTHING for a in args]),
            "block_threads": np.minimum(products([a.block or _NOTHING for a in args]), _INT32_MAX),
            "occupancy_percent": _occupancy(args),
        }

    def collectives(self, events: Sequence[Event]) -> Columns:
        """Rows of `collectives`, of those events that describe one: by Kineto's fields, or a range by its shapes."""
        found = [event for event in events if _describes(event)]
        args = _args(found)
        types = [shapes.first_type(a.input_types) if a.collective is None else a.element_type for a in args]
        ins = [shapes.elements(a.input_dims) if a.collective is None else a.in_elements for a in args]
        # the lane of a kernel is a stream
        threads = [-1 if e.cat in _DEVICE_KIND else self.threads[e.pid, e.tid] for e in found]
        called = [e.name if a.collective is None else a.collective for a, e in zip(args, found, strict=True)]
        return self._timed(found) | {
            "name": self._labels(called),
            "thread": np.array(threads, np.int32),
            "correlation": integers([a.correlation for a in args]),
            "external_id": _external_ids(args),
            "group": self._labels([a.group for a in args]),
            "group_description": self._labels([a.group_description for a in args]),
            "group_ranks": self._labels([a.group_ranks for a in args]),
            "group_size": _small([a.group_size for a in args]),
            "in_elements": integers(ins),
            "out_elements": integers([a.out_elements for a in args]),
            "element_type": self._labels(types),
            "source_rank": _small([a.source_rank for a in args]),
            "destination_rank": _small([a.destination_rank for a in args]),
            "number": integers([a.collective_number for a in args]),
        }

    def syncs(self, events: Sequence[Event]) -> Columns:
        """Rows of `syncs`."""
        args = _args(events)
        awaited = integers([a.awaited_stream for a in args])
        return self._timed(events) | {
            "device": integers([a.device for a in args]),
            "stream": np.where(awaited >= 0, awaited, integers([a.stream for a in args])),
            "correlation": integers([a.correlation for a in args]),
            "awaited_correlation": integers([a.awaited_correlation for a in args]),
        }

    def ends_ns(self, events: Sequence[Event]) -> Array:
        """When each event ends, ns, int64 of shape `(len(events),)`. EventTimeError where one has no usable `ts`."""
        ends: Array = self._starts(events) + durations_ns([e.dur for e in events])[0]
        return ends

    def memory(self, events: Sequence[Event]) -> Columns:
        """Rows of `memory`."""
        args = _args(events)
        return {
            "time_ns": self._starts(events),
            "thread": self._threads(events),
            "bytes": integers([a.memory_bytes for a in args], 0),
            "device_type": np.clip(integers([a.device_type for a in args]), 0, 255),
            "device": integers([a.device_id for a in args]),
            "address": integers([a.address for a in args]),
            "allocated_bytes": integers([a.allocated for a in args]),
            "reserved_bytes": integers([a.reserved for a in args]),
        }

    def _host(self, events: Sequence[Event]) -> Columns:
        return self._timed(events) | {"thread": self._threads(events)}

    def _timed(self, events: Sequence[Event], called: Sequence[str | int | float | None] | None = None) -> Columns:
        durations, odd = durations_ns([e.dur for e in events])
        self.odd_durations += odd
        names = self.names
        name = np.array([names[each] for each in called or [e.name for e in events]], np.int32)
        return {"start_ns": self._starts(events), "duration_ns": durations, "name": name}

    def _threads(self, events: Sequence[Event]) -> Array:
        threads = self.threads
        return np.array([threads[e.pid, e.tid] for e in events], np.int32)

    def _starts(self, events: Sequence[Event]) -> Array:
        values = [e.ts for e in events]
        try:
            return whole_ns(values) if self.starts_in_ns else starts_ns(values)
        except BadTimeError as error:
            raise EventTimeError(events[error.row], error.found) from error

    def _labels(self, values: Sequence[Any]) -> Array:
        names = self.names
        return np.array([-1 if value in (None, "") else names[str(value)] for value in values], np.int32)

    def _texts(self, raws: Sequence[Any]) -> Array:
        names, texts = self.names, self._json_texts
        found = [texts[bytes(raw)] for raw in raws]
        return np.array([names[text] if text else -1 for text in found], np.int32)


class _JsonTexts(dict[bytes, str]):
    """JSON as text, spaced in one way whoever wrote it; worked out once a text."""

    def __missing__(self, raw: bytes) -> str:
        try:
            text = json.dumps(msgspec.json.decode(raw)) if raw else ""
        except (msgspec.DecodeError, UnicodeDecodeError):
            text = raw.decode(errors="replace")
        self[raw] = text
        return text


def _describes(event: Event) -> bool:
    args = event.args or NO_ARGS
    if args.collective is not None:
        return event.cat not in (*COPY, *MEMSET)
    return bool(bytes(args.input_dims)) and vocabulary.is_exchange_range(str(event.name))


def _small(values: Sequence[Any]) -> Array:
    return np.clip(integers(values), -1, _INT32_MAX).astype(np.int32)


def _args(events: Sequence[Event]) -> list[Args]:
    return [e.args or NO_ARGS for e in events]


def _external_ids(args: Sequence[Args]) -> Array:
    return integers([a.external_id if a.external_id != -1 else a.external_id_2021 for a in args])


def _or_lane(values: Sequence[Any], lanes: Sequence[Any]) -> Array:
    """`values`, and where one is absent the number in the event's pid or tid. Either may read `stream 7`."""
    found = integers(values)
    for row in np.flatnonzero(found < 0).tolist():
        found[row] = whole(values[row] if isinstance(values[row], str) else lanes[row])
    return found


def _occupancy(args: Sequence[Args]) -> Array:
    """In percent. The profiler gives 0 both for what rounds to it and where it cannot work it out, as for kernels with
    much shared memory: with a fair number of warps on each multiprocessor it is not known."""
    percent, warps = floats([a.occupancy for a in args]), floats([a.warps for a in args])
    return np.where((percent == 0) & (warps >= _SURELY_SEEN), np.float32(np.nan), percent)
