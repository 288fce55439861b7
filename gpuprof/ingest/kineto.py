"""Reads one Kineto file into raw tables."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gpuprof import units
from gpuprof.errors import ForeignFileError, TraceError, UnreadableError
from gpuprof.ingest import head
from gpuprof.ingest.columns import EventTimeError
from gpuprof.ingest.cut import cut
from gpuprof.ingest.document import Batch, Document
from gpuprof.ingest.rows import EventRows
from gpuprof.ingest.stream import KINETO, ByteStream
from gpuprof.model.device import Device
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import Source

CHUNK_BYTES = 4 << 20
_EPOCH_US = 10**15  # times of this size are absolute, whatever base the file names
_CLOCK_RAN_NS = 10**12


@dataclass(frozen=True)
class KinetoFile:
    """The raw tables of a file, and what it says of itself. Arguments of `assemble.assemble`."""

    tables: dict[str, Table]
    names: list[str]
    external_ids: Array
    source: Source
    devices: tuple[Device, ...]


def read_kineto(path: Path, *, chunk_bytes: int = CHUNK_BYTES) -> KinetoFile:
    """Read a `*.json` or `*.json.gz` file of any Kineto generation.

    UnreadableError or ForeignFileError, with one clear line, where that cannot be done.
    """
    try:
        return _read(path, chunk_bytes)
    except RecursionError as error:
        raise UnreadableError(path, "its JSON is nested thousands of levels deep", expected=KINETO) from error
    except MemoryError as error:
        expected = f"{KINETO} that fits into memory; record fewer steps"
        raise UnreadableError(path, "there is not enough memory to read it", expected=expected) from error


def _read(path: Path, chunk_bytes: int) -> KinetoFile:
    document, rows = Document(ByteStream(path, chunk_bytes)), EventRows()
    # closing: an error must not leave the file open in the reading thread
    with collector_paused(), closing(iter(document)) as batches:
        for batch in batches:
            try:
                rows.add(batch)
            except EventTimeError as error:
                raise _no_time(path, batch, error) from error
        _check(document, rows)
        tables, names, external_ids = rows.tables()
    notes = list(document.notes)
    if rows.stopped_ns is not None:
        tables = cut(tables, rows.stopped_ns)
    tables, external_ids = _without_unset_times(tables, external_ids, notes)
    tables = _shifted(tables, document.fields)
    if rows.columns.odd_durations:
        odd = units.plural(rows.columns.odd_durations, "event")
        notes.append(f"{odd} had a negative duration or none that is a number; it was taken as 0.")
    if document.repaired:
        notes.append("Some of the file was not valid JSON (an unescaped quote or backslash, as a rule) and was mended.")
    return KinetoFile(
        tables=tables,
        names=names,
        external_ids=external_ids,
        source=dataclasses.replace(
            _source(path, document, tables, names, notes),
            end_mark=rows.end_mark,
            unread=max(rows.unread, key=lambda each: rows.unread[each], default=None),
        ),
        devices=head.devices_of(document.fields),
    )


@contextmanager
def collector_paused() -> Iterator[None]:
    """The garbage collector off: it would walk every event made so far, again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _no_time(path: Path, batch: Batch, error: EventTimeError) -> TraceError:
    position = next(row for row, event in enumerate(batch.events) if event is error.event)
    at = 1
    for raw in msgspec.json.decode(batch.text, type=list[msgspec.Raw])[: position + 1]:
        at = batch.whole.index(bytes(raw), at)
    return UnreadableError(
        path,
        f"the `ts` of an event ({error.event.name!s:.60}) is {error.found}",
        where=f"byte {batch.offset + at - 1:,}",
        expected="a number of µs, as Kineto writes it",
    )


def _check(document: Document, rows: EventRows) -> None:
    if rows.known:
        return
    if document.truncated:
        raise UnreadableError(
            document.path,
            "the file ends before its first whole event",
            where=f"byte {document.bytes_read:,}",
            expected=f"{KINETO}, whole",
        )
    ours = document.fields.keys() & {"schemaVersion", "deviceProperties"}
    if not rows.events and not ours:
        raise UnreadableError(document.path, "the file holds no event", where="key `traceEvents`", expected=KINETO)
    if not ours:
        raise ForeignFileError(
            document.path,
            f"none of its {rows.events:,} events is an operator, a call or device work",
            where="key `cat`",
            expected="the categories that Kineto writes, such as cpu_op, cuda_runtime, kernel",
        )
    document.notes.append("The trace holds no operator, call or device event.")


def _without_unset_times(
    tables: dict[str, Table], external_ids: Array, notes: list[str]
) -> tuple[dict[str, Table], Array]:
    """Leave out device work whose start is 0 in a trace whose clock does not begin there (CUPTI lost it)."""
    events, host = tables["device_events"], tables["operators"]["start_ns"]
    clock = host if len(host) else events["start_ns"]
    unset = events["start_ns"] <= 0
    if not unset.any() or np.median(clock) < _CLOCK_RAN_NS:
        return tables, external_ids
    lost = units.plural(int(unset.sum()), "device event")
    notes.append(f"{lost} had no time (0) and were left out: the profiler lost it.")
    return tables | {"device_events": events.take(~unset)}, external_ids[~unset]


def _shifted(tables: dict[str, Table], fields: dict[str, Any]) -> dict[str, Table]:
    """Unix time: the file's base added, in integers, unless its times are absolute already."""
    try:
        base = int(fields.get("baseTimeNanoseconds") or 0)
    except (TypeError, ValueError):
        base = 0
    keys = {name: "time_ns" if name == "memory" else "start_ns" for name, table in tables.items() if len(table)}
    keys.pop("threads", None)
    if not base or not keys:
        return tables
    latest = max(int(tables[name][key].max()) for name, key in keys.items())
    if latest >= _EPOCH_US * units.NS_PER_US or latest + base > np.iinfo(np.int64).max:
        return tables
    moved = {name: tables[name].replace(**{key: tables[name][key] + base}) for name, key in keys.items()}
    return tables | moved


def _source(path: Path, document: Document, tables: dict[str, Table], names: list[str], notes: list[str]) -> Source:
    calls, operators = tables["calls"], tables["operators"]
    world_size, process_groups = head.world_of(document.fields)
    return Source(
        path=str(path),
        rank=head.rank_of(document.fields),
        world_size=world_size,
        process_groups=process_groups,
        torch=head.torch_of(document.fields),
        platform=head.platform_of(document.fields, [names[number] for number in np.unique(calls["name"])]),
        truncated=document.truncated,
        repaired=document.repaired > 0,
        stacks=len(tables["frames"]) > 0,
        shapes=bool((operators["input_dims"] >= 0).any()),
        notes=tuple(notes),
    )
