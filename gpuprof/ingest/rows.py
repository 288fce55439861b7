"""Collects the batches of a file into raw tables; nothing is linked yet."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from gpuprof.ingest import mtia
from gpuprof.ingest.columns import ColumnMaker, Columns
from gpuprof.ingest.document import Batch
from gpuprof.ingest.event import RECORDED_CATEGORY, RECORDED_NAME, TABLE_OF, UNREAD_ACCELERATORS, Event
from gpuprof.ingest.numbering import thread_key
from gpuprof.ingest.numbers import InexactTimeError, text_ns
from gpuprof.ingest.plain_operators import PlainOperators
from gpuprof.model.recording import CLOCK_MARK
from gpuprof.model.schema import TABLES
from gpuprof.model.table import Array, Table
from gpuprof.model.trace import EndMark

Groups = dict[str, list[Event]]
_MTIA = frozenset((mtia.DEVICE, mtia.RUNTIME))
_SIDES = ("calls", "device_events")
_DESCRIBED = ("device_events", "operators", "user_ranges")
_NAMED = (
    *("name", "input_dims", "input_types", "input_values"),
    *("group", "group_description", "group_ranks", "element_type"),
)


class EventRows:
    """The raw rows of one file, in file order.

    `events` counts all of its events, `known` those that make a row. `stopped_ns` is when the profiler stopped, on the
    clock of the rows; None where the file does not say. `unread` counts events of accelerators that are not read.
    """

    def __init__(self) -> None:
        self.columns = ColumnMaker()
        self.events = 0
        self.known = 0
        self.unread = Counter[str]()
        self.stopped_ns: int | None = None
        self._ended = self._profiler_range = False
        self._side = ""
        self._sides = 0
        self._thread_names: dict[tuple[int, int], str] = {}
        self._parts: dict[str, list[Columns]] = defaultdict(list)

    def add(self, batch: Batch) -> None:
        """Take in one batch; EventTimeError for the first event without a usable `ts`."""
        groups: Groups = defaultdict(list)
        for written in batch.events:
            event = mtia.as_others(written) if written.cat in _MTIA and written.ph == "X" else written
            if event is None:
                continue
            table = TABLE_OF.get(event.cat)
            if table == "memory":
                self._take_instant(event, groups)
            elif table is not None and event.ph == "X":
                groups[table].append(event)
                if table != self._side and table in _SIDES:
                    self._side = table
                    self._sides += 1
            elif event.cat == RECORDED_CATEGORY:
                self._profiler_range = True
                if event.ph == "X" and str(event.name).startswith(RECORDED_NAME):
                    groups[RECORDED_CATEGORY].append(event)
            elif event.cat is not None and event.cat.startswith(UNREAD_ACCELERATORS):
                self.unread[event.cat.partition("_")[0]] += 1
        self.events += len(batch.events) + (0 if batch.operators is None else len(batch.operators.names))
        odd_durations = self.columns.odd_durations
        try:
            made = self._made(groups, batch.operators)
        except InexactTimeError:
            self.columns.odd_durations = odd_durations
            for event, text in zip(batch.events, batch.time_texts(), strict=True):
                event.ts = text_ns(text)
            made = self._made(groups, batch.operators, in_ns=True)
        for table, columns in made:
            if table != "collectives":  # those rows are of events that make another row, too
                self.known += len(columns["thread"] if "thread" in columns else columns["name"])
            self._parts[table].append(columns)

    def tables(self) -> tuple[dict[str, Table], list[str], Array]:
        """The raw tables (steps and samples empty), the names, and the external id of every device event (-1: none).

        Names and threads are in alphabetical and numerical order, so that batches leave no mark on them.
        """
        whole = {
            name: {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
            for name, parts in self._parts.items()
        }
        external_ids = _operator_ids(whole.get("device_events", {}))
        keys = sorted(self.columns.threads.meanings)
        whole["threads"] = self._thread_columns(keys)
        texts = self.columns.names.meanings
        names = sorted(texts)
        new_name, new_thread = _places(texts, names), _places(self.columns.threads.meanings, keys)
        for columns in whole.values():
            columns |= {key: new_name[columns[key]] for key in _NAMED if key in columns}
            if "thread" in columns:
                columns["thread"] = new_thread[columns["thread"]]
        return {name: Table(schema, whole.get(name)) for name, schema in TABLES.items()}, names, external_ids

    @property
    def end_mark(self) -> EndMark:
        """How the end of the file is marked, once all of it was added."""
        if self._ended:
            return EndMark.WINDOW
        if self._profiler_range:
            return EndMark.PROFILER
        # the profiler writes calls and device work by turns, as it gets them
        return EndMark.CONVERTED if self._sides == len(_SIDES) else EndMark.MISSING

    def _take_instant(self, event: Event, groups: Groups) -> None:
        if event.name == "Record Window End":
            self._ended = True
        elif event.name == "[memory]":
            groups["memory"].append(event)
        elif event.name == "thread_name" and event.args and isinstance(event.args.thread_name, str):
            self._thread_names[thread_key((event.pid, event.tid))] = event.args.thread_name

    def _made(
        self, groups: Groups, operators: PlainOperators | None, *, in_ns: bool = False
    ) -> list[tuple[str, Columns]]:
        make = self.columns
        make.starts_in_ns = in_ns
        makers = {
            "user_ranges": lambda rows: make.spans([event for event in rows if event.name != CLOCK_MARK]),
            "frames": make.frames,
            "calls": make.calls,
            "device_events": make.device_events,
            "syncs": make.syncs,
            "memory": make.memory,
        }
        if RECORDED_CATEGORY in groups:
            self.stopped_ns = max(int(make.ends_ns(groups[RECORDED_CATEGORY]).max()), self.stopped_ns or 0)
        made = [(table, makers[table](rows)) for table, rows in groups.items() if table in makers]
        described = [make.collectives(groups[table]) for table in _DESCRIBED if table in groups]
        made += [("collectives", columns) for columns in described if len(columns["name"])]
        if operators is not None:
            made += _apart(make.plain_operators(operators))
        return made + (_apart(make.operators(groups["operators"])) if "operators" in groups else [])

    def _thread_columns(self, keys: list[tuple[int, int]]) -> Columns:
        names = self.columns.names
        texts = [self._thread_names.get(key, f"thread {key[1]}") for key in keys]
        return {
            "pid": np.array([pid for pid, _ in keys], np.int64),
            "tid": np.array([tid for _, tid in keys], np.int64),
            "name": np.array([names[text] for text in texts], np.int32),
        }


def _operator_ids(device_events: Columns) -> Array:
    """The external ids, but those that only repeat the correlation (before 2024): they are no operator's."""
    if not device_events:
        return np.empty(0, np.int64)
    ids = device_events.pop("external_id")
    return np.where(ids == device_events["correlation"], -1, ids)


def _places(old: list[Any], new: list[Any]) -> Array:
    """Where each of `old` stands in `new`; a last place keeps -1 as it is."""
    place = {value: number for number, value in enumerate(new)}
    return np.array([*(place[value] for value in old), -1], np.int32)


def _apart(columns: Columns) -> list[tuple[str, Columns]]:
    """Operators, and torch's own ranges, which traces of 2021 file under the same category."""
    torch_span = columns.pop("torch_span")
    if not torch_span.any():
        return [("operators", columns)]
    spans = {name: columns[name][torch_span] for name in ("start_ns", "duration_ns", "name", "thread")}
    return [("operators", {name: values[~torch_span] for name, values in columns.items()}), ("user_ranges", spans)]
