"""Collects the batches of a file into raw tables; nothing is linked yet."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from gpuprof.ingest import event as kineto
from gpuprof.ingest.columns import ColumnMaker, Columns
from gpuprof.ingest.document import Batch
from gpuprof.ingest.event import Event
from gpuprof.ingest.numbering import thread_key
from gpuprof.ingest.numbers import InexactTimeError, text_ns
from gpuprof.model.kinds import DeviceEventKind
from gpuprof.model.schema import TABLES
from gpuprof.model.table import Array, Table

Groups = dict[str | None, list[Event]]
_DEVICE_KINDS = (
    (kineto.KERNEL, DeviceEventKind.KERNEL),
    (kineto.COPY, DeviceEventKind.COPY),
    (kineto.MEMSET, DeviceEventKind.MEMSET),
)


class Rows:
    """The raw rows of one file.

    `events` counts all of its events, `known` those of a category that Kineto writes.
    """

    def __init__(self) -> None:
        self.columns = ColumnMaker()
        self.events = 0
        self.known = 0
        self._thread_names: dict[tuple[int, int], str] = {}
        self._parts: dict[str, list[Columns]] = defaultdict(list)

    def add(self, batch: Batch) -> None:
        """Take in one batch; EventTimeError for the first event without a usable `ts`."""
        groups: Groups = defaultdict(list)
        for event in batch.events:
            groups[event.cat].append(event)
        self.events += len(batch.events)
        try:
            made = self._made(groups)
        except InexactTimeError:
            for event, text in zip(batch.events, batch.time_texts(), strict=True):
                event.ts = text_ns(text)
            made = self._made(groups, in_ns=True)
        for table, columns in made:
            self._parts[table].append(columns)
        for event in groups.get(None, ()):
            if event.name == "thread_name" and event.args and isinstance(event.args.thread_name, str):
                self._thread_names[thread_key((event.pid, event.tid))] = event.args.thread_name

    def tables(self) -> tuple[dict[str, Table], Array]:
        """The raw tables, steps and samples empty, and the external id of every device event (-1: none)."""
        whole = {
            name: {key: np.concatenate([p[key] for p in parts]) for key in parts[0]}
            for name, parts in self._parts.items()
        }
        external_ids = whole.get("device_events", {}).pop("external_id", np.empty(0, np.int64))
        whole["threads"] = self._thread_columns()
        tables = {name: Table(schema, whole.get(name)) for name, schema in TABLES.items()}
        return tables, external_ids

    def _made(self, groups: Groups, *, in_ns: bool = False) -> list[tuple[str, Columns]]:
        make, made = self.columns, []
        make.starts_in_ns = in_ns
        for category, found in groups.items():
            if category in kineto.MEMORY:
                rows = [event for event in found if event.name == "[memory]"]
                made.append(("memory", make.memory(rows)))
                continue
            if category not in kineto.KNOWN:
                continue
            rows = [event for event in found if event.ph == "X"]
            self.known += len(rows)
            if category in kineto.OPERATOR:
                made.extend(_apart(make.operators(rows)))
            elif category in kineto.SPAN:
                made.append(("spans", make.spans(rows)))
            elif category in kineto.FRAME:
                made.append(("frames", make.spans(rows)))
            elif category in kineto.CALL:
                made.append(("calls", make.calls(rows)))
            elif category in kineto.SYNC:
                made.append(("syncs", make.syncs(rows)))
            else:
                kind = next(kind for categories, kind in _DEVICE_KINDS if category in categories)
                made.append(("device_events", make.device_events(rows, kind)))
        return made

    def _thread_columns(self) -> Columns:
        keys = self.columns.threads.meanings
        names = self.columns.names
        texts = [self._thread_names.get(key, f"thread {key[1]}") for key in keys]
        return {
            "pid": np.array([pid for pid, _ in keys], np.int64),
            "tid": np.array([tid for _, tid in keys], np.int64),
            "name": np.array([names[text] for text in texts], np.int32),
        }


def _apart(columns: Columns) -> list[tuple[str, Columns]]:
    """Operators, and torch's own ranges, which traces of 2021 file under the same category."""
    torch_span = columns.pop("torch_span")
    if not torch_span.any():
        return [("operators", columns)]
    spans = {name: columns[name][torch_span] for name in ("start_ns", "duration_ns", "name", "thread")}
    return [("operators", {name: values[~torch_span] for name, values in columns.items()}), ("spans", spans)]
